/** An affine transform: the 16 numbers of a 4×4 matrix, column by column, as glTF writes it. */
export type Transform = ArrayLike<number>;

export const IDENTITY: Transform = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** First `b`, then `a`. */
export function multiply(a: Transform, b: Transform): Transform {
  const product = new Float64Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[k * 4 + row]! * b[column * 4 + k]!;
      product[column * 4 + row] = sum;
    }
  }
  return product;
}

/** First scales along the axes, then turns, then shifts. @param rotation a quaternion x, y, z, w of any length but 0. */
export function fromParts(
  translation: ArrayLike<number>,
  rotation: ArrayLike<number>,
  scale: ArrayLike<number>,
): Transform {
  const [x, y, z, w] = [rotation[0]!, rotation[1]!, rotation[2]!, rotation[3]!];
  const s = 2 / (x * x + y * y + z * z + w * w || 1);
  const [a, b, c] = [scale[0]!, scale[1]!, scale[2]!];
  return [
    (1 - s * (y * y + z * z)) * a,
    s * (x * y + w * z) * a,
    s * (x * z - w * y) * a,
    0,
    s * (x * y - w * z) * b,
    (1 - s * (x * x + z * z)) * b,
    s * (y * z + w * x) * b,
    0,
    s * (x * z + w * y) * c,
    s * (y * z - w * x) * c,
    (1 - s * (x * x + y * y)) * c,
    0,
    translation[0]!,
    translation[1]!,
    translation[2]!,
    1,
  ];
}

/** Volume of the image of the unit cube; negative for a transform that mirrors. */
export function determinant(m: Transform): number {
  return (
    m[0]! * (m[5]! * m[10]! - m[6]! * m[9]!) -
    m[4]! * (m[1]! * m[10]! - m[2]! * m[9]!) +
    m[8]! * (m[1]! * m[6]! - m[2]! * m[5]!)
  );
}

/** Writes the image of a point to `target` at `at`. */
export function transformPoint(m: Transform, x: number, y: number, z: number, target: Float64Array, at: number): void {
  target[at] = m[0]! * x + m[4]! * y + m[8]! * z + m[12]!;
  target[at + 1] = m[1]! * x + m[5]! * y + m[9]! * z + m[13]!;
  target[at + 2] = m[2]! * x + m[6]! * y + m[10]! * z + m[14]!;
}

/**
 * Writes the image of a surface normal, not of unit length, to `target` at `at`. Normals go with the cofactors of the linear
 * part: the inverse's transpose but for its length, and defined also where the transform flattens. A mirror's cofactors
 * point inwards, hence the sign.
 */
export function transformNormal(m: Transform, x: number, y: number, z: number, target: Float32Array, at: number): void {
  const sign = determinant(m) < 0 ? -1 : 1;
  for (let row = 0; row < 3; row++) {
    const [r, s] = [(row + 1) % 3, (row + 2) % 3];
    target[at + row] =
      sign *
      ((m[4 + r]! * m[8 + s]! - m[4 + s]! * m[8 + r]!) * x +
        (m[8 + r]! * m[s]! - m[8 + s]! * m[r]!) * y +
        (m[r]! * m[4 + s]! - m[s]! * m[4 + r]!) * z);
  }
}
