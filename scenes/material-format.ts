/**
 * A material as the render page takes it: three square RGBA images, rows from the top down, as bytes. Colour is sRGB, all
 * else linear.
 *
 * | image | red, green, blue | alpha |
 * |---|---|---|
 * | colour | base colour | – |
 * | normal and height | tangent-space normal, +Y up | height |
 * | properties | ambient occlusion, roughness, metalness | transmission |
 *
 * The bytes start with three 32-bit numbers: `MAT1`, the side in pixels, and 1 where some of it transmits light, else 0.
 */
export interface PackedMaterial {
  /** In pixels. */
  readonly side: number;
  readonly transmissive: boolean;
  readonly color: Uint8Array<ArrayBuffer>;
  readonly normalHeight: Uint8Array<ArrayBuffer>;
  readonly properties: Uint8Array<ArrayBuffer>;
}

const MAGIC = 0x3154414d; // "MAT1"
const HEADER_BYTES = 12;

/** An empty material to be filled in, and the bytes it is made of. */
export function allocateMaterial(side: number, transmissive: boolean) {
  const bytes = new Uint8Array(HEADER_BYTES + 12 * side * side);
  new Uint32Array(bytes.buffer, 0, 3).set([MAGIC, side, transmissive ? 1 : 0]);
  return { bytes, material: readPackedMaterial(bytes) };
}

/** A material's bytes as views of them. @throws Error when they are no material. */
export function readPackedMaterial(bytes: Uint8Array<ArrayBuffer>): PackedMaterial {
  const header = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const side = header.getUint32(4, true);
  const image = 4 * side * side;
  if (header.getUint32(0, true) !== MAGIC || bytes.length !== HEADER_BYTES + 3 * image) {
    throw new Error(`expected a packed material, got ${bytes.length} other bytes`);
  }
  const [color, normalHeight, properties] = [0, 1, 2].map(i =>
    bytes.subarray(HEADER_BYTES + i * image, HEADER_BYTES + (i + 1) * image),
  ) as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];
  return { side, transmissive: header.getUint32(8, true) === 1, color, normalHeight, properties };
}
