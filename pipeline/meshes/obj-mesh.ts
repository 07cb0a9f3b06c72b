import type { RawMesh } from '../../extractors/mesh/triangle-mesh.ts';
import { triangulate } from '../../extractors/mesh/triangulate.ts';
import { InputFault } from '../faults.ts';
import { checkTriangles } from './mesh-limits.ts';

/**
 * Reads a Wavefront OBJ: `v`, `vn` and `f`, all groups and objects joined. Polygons are cut into triangles. Lines, points,
 * curves, texture coordinates and materials are left out.
 * @throws InputFault with the line number when a face is malformed.
 */
export function decodeObj(bytes: Buffer): { mesh: RawMesh; dropped: string[] } {
  const positions = new Numbers();
  const normals = new Numbers();
  const corners = new ObjVertices(positions, normals);
  const indices = new Numbers();
  const dropped = new Set<string>();
  for (const [line, words] of statements(bytes)) {
    switch (words[0]) {
      case 'v':
        for (let i = 1; i <= 3; i++) positions.push(Number(words[i]));
        break;
      case 'vn':
        for (let i = 1; i <= 3; i++) normals.push(Number(words[i]));
        break;
      case 'f': {
        const polygon = words.slice(1).map(word => corners.number(word, line));
        // Blender writes loose edges as faces of two vertices.
        if (polygon.length < 3) dropped.add('lines');
        for (const corner of triangulate(corners.positionsOf(polygon))) indices.push(polygon[corner]!);
        checkTriangles(indices.length / 3);
        break;
      }
      case 'vt':
        dropped.add('textures');
        break;
      case 'usemtl':
        dropped.add('materials');
        break;
      case 'l':
      case 'p':
        dropped.add('lines');
        break;
    }
  }
  return { mesh: { ...corners.arrays(), indices: Uint32Array.from(indices.array()) }, dropped: [...dropped].sort() };
}

/** The lines that say something, as words, with the number of the first line; a backslash at the end joins two. */
function* statements(bytes: Buffer): Generator<[line: number, words: string[]]> {
  let line = 0;
  let pending = '';
  let first = 1;
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline === -1 ? bytes.length : newline;
    line++;
    const text = (pending + bytes.toString('latin1', start, end)).trim();
    start = end + 1;
    if (pending === '') first = line;
    pending = text.endsWith('\\') ? `${text.slice(0, -1)} ` : '';
    if (pending === '' && text !== '' && text[0] !== '#') yield [first, text.split(/\s+/)];
  }
  if (pending.trim() !== '') yield [first, pending.trim().split(/\s+/)];
}

/** An OBJ's faces pick positions and normals one by one; a vertex here is each pair that is picked. */
class ObjVertices {
  readonly #positions: Numbers;
  readonly #normals: Numbers;
  readonly #byPair = new Map<number, number>();
  readonly #pairs = new Numbers();

  constructor(positions: Numbers, normals: Numbers) {
    this.#positions = positions;
    this.#normals = normals;
  }

  /** Number of the vertex that `position`, `position/texture`, `position//normal` or `position/texture/normal` names. */
  number(word: string, line: number): number {
    const [position, , normal] = word.split('/');
    const p = this.#index(position, this.#positions, line);
    const n = normal ? this.#index(normal, this.#normals, line) : -1;
    // Both are below 2^26: MAX_TRIANGLES is.
    const key = p * 2 ** 27 + (n + 1);
    const known = this.#byPair.get(key);
    if (known !== undefined) return known;
    const number = this.#pairs.length / 2;
    this.#pairs.push(p);
    this.#pairs.push(n);
    this.#byPair.set(key, number);
    return number;
  }

  /** x, y, z of each of these vertices. */
  positionsOf(vertices: readonly number[]): Float64Array {
    const positions = new Float64Array(vertices.length * 3);
    for (let i = 0; i < positions.length; i++) {
      const vertex = vertices[Math.floor(i / 3)]!;
      positions[i] = this.#positions.at(this.#pairs.at(vertex * 2) * 3 + (i % 3));
    }
    return positions;
  }

  arrays(): Pick<RawMesh, 'positions' | 'normals'> {
    const pairs = this.#pairs.array();
    const [from, normalsFrom] = [this.#positions.array(), this.#normals.array()];
    const positions = new Float64Array((pairs.length / 2) * 3);
    const normals = new Float32Array(positions.length);
    for (let i = 0; i < pairs.length; i += 2) {
      const [p, n, to] = [pairs[i]! * 3, pairs[i + 1]! * 3, (i / 2) * 3];
      for (let axis = 0; axis < 3; axis++) {
        positions[to + axis] = from[p + axis]!;
        if (n >= 0) normals[to + axis] = normalsFrom[n + axis]!;
      }
    }
    return { positions, normals };
  }

  /** Counted from 1, or backwards from the last one so far. */
  #index(word: string | undefined, list: Numbers, line: number): number {
    const count = list.length / 3;
    const number = Number(word);
    const index = number < 0 ? count + number : number - 1;
    if (!(word && Number.isInteger(number) && index >= 0 && index < count)) {
      throw new InputFault(`line ${line}: expected a number of 1 to ${count} in a face, got "${word ?? ''}"`);
    }
    return index;
  }
}

/** A list of numbers in one growing array: 8 bytes each, however many there are. */
class Numbers {
  #values = new Float64Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.#values.length) {
      const more = new Float64Array(this.#values.length * 2);
      more.set(this.#values);
      this.#values = more;
    }
    this.#values[this.length++] = value;
  }

  at(i: number): number {
    return this.#values[i]!;
  }

  array(): Float64Array {
    return this.#values.subarray(0, this.length);
  }
}
