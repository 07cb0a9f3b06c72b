import { describe, expect, test } from 'vitest';
import { InputFault } from '../../../pipeline/faults.ts';
import { decodeObj } from '../../../pipeline/meshes/obj-mesh.ts';

const SQUARE = ['v 0 0 0', 'v 1 0 0', 'v 1 1 0', 'v 0 1 0'];
const decode = (...lines: string[]) => decodeObj(Buffer.from(lines.join('\n')));

/** The corners of each triangle, as x, y, z. */
function triangles({ mesh: { positions, indices } }: ReturnType<typeof decodeObj>): string[] {
  const corner = (v: number) => [...positions.subarray(v * 3, v * 3 + 3)].join(' ');
  return Array.from({ length: indices.length / 3 }, (_, t) =>
    [...indices.subarray(t * 3, t * 3 + 3)].map(corner).join(', '),
  );
}

describe('decodeObj', () => {
  test('polygons become triangles', () => {
    expect(triangles(decode(...SQUARE, 'f 1 2 3 4'))).toEqual(['0 0 0, 1 0 0, 1 1 0', '0 0 0, 1 1 0, 0 1 0']);
  });

  test.each([
    'f 1 2 3',
    'f 1/1 2/2 3/3',
    'f 1/1/1 2/2/1 3/3/1',
    'f 1//1 2//1 3//1',
    'f -4 -3 -2',
    'f -4/-1/-1 -3/1/1 3//-1',
  ])('%s', face => {
    const result = decode(...SQUARE, 'vt 0 0', 'vt 1 0', 'vt 1 1', 'vn 0 0 1', face);
    expect(triangles(result)).toEqual(['0 0 0, 1 0 0, 1 1 0']);
    const normals = [...result.mesh.normals];
    expect(normals).toEqual(face.split('/').length < 7 ? new Array(9).fill(0) : [0, 0, 1, 0, 0, 1, 0, 0, 1]);
  });

  test('negative numbers count from where the face stands', () => {
    expect(triangles(decode('v 9 9 9', 'v 0 0 0', 'v 1 0 0', 'v 0 1 0', 'f -3 -2 -1', 'v 5 5 5'))).toEqual([
      '0 0 0, 1 0 0, 0 1 0',
    ]);
  });

  test('groups are joined; a vertex with two normals is two', () => {
    const { mesh } = decode(...SQUARE, 'vn 0 0 1', 'vn 0 1 0', 'o a', 'f 1//1 2//1 3//1', 'g b', 'f 1//2 3//1 4//1');
    expect(mesh.positions.length / 3).toBe(5);
  });

  test('continued lines, comments, blanks, carriage returns, no newline at the end', () => {
    expect(
      triangles(
        decode('# a mesh', '', ...SQUARE.map(line => `${line}\r`), '  f 1 \\', '\t2 3  # not here'.slice(0, 4)),
      ),
    ).toEqual(['0 0 0, 1 0 0, 1 1 0']);
  });

  test('further coordinates (w, colours) are passed over', () => {
    expect(triangles(decode('v 0 0 0 1', 'v 1 0 0 0.5 0.5 0.5', 'v 0 1 0', 'f 1 2 3'))).toEqual([
      '0 0 0, 1 0 0, 0 1 0',
    ]);
  });

  test('lines, points and materials are left out and named', () => {
    const result = decode(...SQUARE, 'mtllib a.mtl', 'usemtl red', 'vt 0 0', 'l 1 2', 'p 1', 'f 1 2', 'f 1 2 3');
    expect(triangles(result).length).toBe(1);
    expect(result.dropped).toEqual(['lines', 'materials', 'textures']);
  });

  test('concave polygons are covered once', () => {
    const result = decode('v 0 0 0', 'v 4 2 0', 'v 0 4 0', 'v 1 2 0', 'f 1 2 3 4');
    expect(triangles(result)).not.toContain('0 0 0, 4 2 0, 0 4 0');
  });

  test('coordinates that are no numbers are NaN', () => {
    expect(decode('v 0 x 0', 'v 1 0', 'v 0 1 0', 'f 1 2 3').mesh.positions.filter(Number.isNaN).length).toBe(2);
  });

  test('text that is no OBJ has no triangles', () => {
    expect(decode('hello', 'world').mesh.indices.length).toBe(0);
    expect(decodeObj(Buffer.alloc(1000, 0xff)).mesh.indices.length).toBe(0);
  });

  test.each(['f 1 2 5', 'f 0 1 2', 'f 1 2 -5', 'f 1 2 x', 'f 1 2 3//1', 'f 1.5 2 3'])(
    '%s is refused, with its line',
    face => {
      expect(() => decode(...SQUARE, face)).toThrow(InputFault);
      expect(() => decode(...SQUARE, face)).toThrow(/^line 5: expected a number of 1 to /);
    },
  );
});
