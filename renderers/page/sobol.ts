/**
 * Low-discrepancy samples in GLSL. Dimensions come in pairs; each pair is the two-dimensional Sobol sequence with its points
 * in another order and scrambled anew for every pixel (Burley 2020, "Practical Hash-based Owen Scrambling"): the first 2^k
 * samples of a pixel have one point in each of the 2^k boxes of every partition into equal boxes of powers of two, while pixels
 * and pairs know nothing of each other.
 */
export const SOBOL = /* glsl */ `
// Mixes all bits (an integer hash of low bias, found by Wellons' hash prospector).
uint hashed(uint x) {
  x ^= x >> 16;
  x *= 0x21f0aaadu;
  x ^= x >> 15;
  x *= 0xd35a2d97u;
  return x ^ (x >> 15);
}

uint reversedBits(uint x) {
  x = (x << 16) | (x >> 16);
  x = ((x & 0x00ff00ffu) << 8) | ((x >> 8) & 0x00ff00ffu);
  x = ((x & 0x0f0f0f0fu) << 4) | ((x >> 4) & 0x0f0f0f0fu);
  x = ((x & 0x33333333u) << 2) | ((x >> 2) & 0x33333333u);
  return ((x & 0x55555555u) << 1) | ((x >> 1) & 0x55555555u);
}

// An Owen scramble of bits in reversed order: each is flipped or not depending on those below it (Laine and Karras 2011,
// Vegdahl's constants).
uint scrambledReversed(uint x, uint key) {
  x ^= x * 0x3d20adeau;
  x += key;
  x *= (key >> 16) | 1u;
  x ^= x * 0x05526c56u;
  return x ^ (x * 0x53a22864u);
}

// The second dimension's generator matrix is Pascal's triangle modulo 2, which is a product of five steps; reversed bits.
uint pascalReversed(uint x) {
  x ^= x >> 16;
  x ^= (x & 0xff00ff00u) >> 8;
  x ^= (x & 0xf0f0f0f0u) >> 4;
  x ^= (x & 0xccccccccu) >> 2;
  return x ^ ((x & 0xaaaaaaaau) >> 1);
}

// 24 bits, so that 1 is never reached.
float unitFloat(uint x) {
  return float(x >> 8) * 5.9604644775390625e-8;
}

// A point in [0, 1)². What depends on the pixel alone comes first: compilers work it out once for all pairs.
vec2 samplePair(uvec2 pixel, uint number, uint dimensionPair, uint seed) {
  uint key = hashed(dimensionPair ^ hashed(pixel.x ^ hashed(pixel.y ^ hashed(seed))));
  uint index = reversedBits(scrambledReversed(reversedBits(number), key));
  uint first = scrambledReversed(index, hashed(key ^ 0x9e3779b9u));
  uint second = scrambledReversed(pascalReversed(index), hashed(key ^ 0x3c6ef372u));
  return vec2(unitFloat(reversedBits(first)), unitFloat(reversedBits(second)));
}
`;
