import type { RawMesh } from '../../../extractors/mesh/triangle-mesh.ts';

/** A mesh of these points and triangles, without normals. */
export function rawMesh(points: readonly (readonly number[])[], triangles: readonly (readonly number[])[]): RawMesh {
  return {
    positions: Float64Array.from(points.flat()),
    normals: new Float32Array(points.length * 3),
    indices: Uint32Array.from(triangles.flat()),
  };
}

/** An axis-aligned box from `low` to `high`, wound outwards, 8 vertices and 12 triangles. */
export function boxMesh(low: readonly number[], high: readonly number[]): RawMesh {
  const points = Array.from({ length: 8 }, (_, i) => [0, 1, 2].map(axis => ((i >> axis) & 1 ? high : low)[axis]!));
  const quads = [
    [0, 2, 3, 1],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 4, 6, 2],
    [1, 3, 7, 5],
  ];
  return rawMesh(
    points,
    quads.flatMap(([a, b, c, d]) => [
      [a!, b!, c!],
      [a!, c!, d!],
    ]),
  );
}

/** A sphere of radius 1 in `rows` × 2 `rows` fields, wound outwards, with its poles. */
export function sphereMesh(rows: number): RawMesh {
  const points: number[][] = [];
  const triangles: number[][] = [];
  const columns = rows * 2;
  for (let row = 0; row <= rows; row++) {
    for (let column = 0; column < columns; column++) {
      const [a, b] = [(row / rows) * Math.PI, (column / columns) * 2 * Math.PI];
      points.push([Math.sin(a) * Math.cos(b), Math.cos(a), -Math.sin(a) * Math.sin(b)]);
      const next = (column + 1) % columns;
      const [p, q] = [row * columns, (row + 1) * columns];
      if (row < rows) triangles.push([p + column, q + column, q + next], [p + column, q + next, p + next]);
    }
  }
  return rawMesh(points, triangles);
}

/** Several meshes as one. */
export function joined(meshes: readonly RawMesh[]): RawMesh {
  let vertices = 0;
  const indices = meshes.flatMap(mesh => {
    const moved = Array.from(mesh.indices, v => v + vertices);
    vertices += mesh.positions.length / 3;
    return moved;
  });
  return {
    positions: Float64Array.from(meshes.flatMap(({ positions }) => [...positions])),
    normals: Float32Array.from(meshes.flatMap(({ normals }) => [...normals])),
    indices: Uint32Array.from(indices),
  };
}
