/**
 * MurmurHash3 x64-style mixing, 128 bits out, written for 32-bit arithmetic (the published x86_128 variant by Austin
 * Appleby, public domain algorithm). It seeds generators and gives photos their ids, so its values may never change:
 * tests/sampling/hash.test.ts pins published vectors.
 */

/** Four unsigned 32-bit words. */
export type Hash128 = readonly [number, number, number, number];

const C1 = 0x239b961b;
const C2 = 0xab0e9789;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93;

const encoder = new TextEncoder();
/** Where short texts are encoded: hashing names a million times must not make a million buffers. */
const scratch = new Uint8Array(1024);

function utf8(text: string): Uint8Array {
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 > scratch.length) return encoder.encode(text);
  return scratch.subarray(0, encoder.encodeInto(text, scratch).written);
}

function rotl(x: number, r: number): number {
  return (x << r) | (x >>> (32 - r));
}

function finalMix(h: number): number {
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** Little-endian 32-bit word at `i`; bytes past the end count as zero. */
function wordAt(bytes: Uint8Array, i: number): number {
  return (bytes[i] ?? 0) | ((bytes[i + 1] ?? 0) << 8) | ((bytes[i + 2] ?? 0) << 16) | ((bytes[i + 3] ?? 0) << 24);
}

/** MurmurHash3_x86_128 of the UTF-8 bytes of `text`. */
export function hash128(text: string, seed = 0): Hash128 {
  const bytes = utf8(text);
  const length = bytes.length;
  let h1 = seed;
  let h2 = seed;
  let h3 = seed;
  let h4 = seed;
  const blocks = length & ~15;
  for (let i = 0; i < blocks; i += 16) {
    h1 ^= Math.imul(rotl(Math.imul(wordAt(bytes, i), C1), 15), C2);
    h1 = (Math.imul((rotl(h1, 19) + h2) | 0, 5) + 0x561ccd1b) | 0;
    h2 ^= Math.imul(rotl(Math.imul(wordAt(bytes, i + 4), C2), 16), C3);
    h2 = (Math.imul((rotl(h2, 17) + h3) | 0, 5) + 0x0bcaa747) | 0;
    h3 ^= Math.imul(rotl(Math.imul(wordAt(bytes, i + 8), C3), 17), C4);
    h3 = (Math.imul((rotl(h3, 15) + h4) | 0, 5) + 0x96cd1c35) | 0;
    h4 ^= Math.imul(rotl(Math.imul(wordAt(bytes, i + 12), C4), 18), C1);
    h4 = (Math.imul((rotl(h4, 13) + h1) | 0, 5) + 0x32ac3b17) | 0;
  }
  // The tail: missing bytes read as zero, and a zero word mixes to zero, so no case split is needed.
  h4 ^= Math.imul(rotl(Math.imul(wordAt(bytes, blocks + 12), C4), 18), C1);
  h3 ^= Math.imul(rotl(Math.imul(wordAt(bytes, blocks + 8), C3), 17), C4);
  h2 ^= Math.imul(rotl(Math.imul(wordAt(bytes, blocks + 4), C2), 16), C3);
  h1 ^= Math.imul(rotl(Math.imul(wordAt(bytes, blocks), C1), 15), C2);

  h1 ^= length;
  h2 ^= length;
  h3 ^= length;
  h4 ^= length;
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = (h2 + h1) | 0;
  h3 = (h3 + h1) | 0;
  h4 = (h4 + h1) | 0;
  h1 = finalMix(h1);
  h2 = finalMix(h2);
  h3 = finalMix(h3);
  h4 = finalMix(h4);
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = (h2 + h1) | 0;
  h3 = (h3 + h1) | 0;
  h4 = (h4 + h1) | 0;
  return [h1 >>> 0, h2 >>> 0, h3 >>> 0, h4 >>> 0];
}

/** First 64 bits of {@link hash128} as 16 lower-case hexadecimal digits: the form of photo, mesh and panorama ids. */
export function hashId(text: string): string {
  const [a, b] = hash128(text);
  return a.toString(16).padStart(8, '0') + b.toString(16).padStart(8, '0');
}

/** A number in [0, 1) with 53 random bits, fixed for a text: for splits and permutations. */
export function hashUnit(text: string): number {
  const [a, b] = hash128(text);
  return ((a >>> 5) * 2 ** 26 + (b >>> 6)) / 2 ** 53;
}
