import { chance, integer, uniform } from '../sampling/distributions.ts';
import type { Rng } from '../sampling/rng.ts';
import type { PaintKind } from './conditions.ts';
import type { ItemSize, Paint, TexturePaint } from './scene2d.ts';

type Rgb = [number, number, number];

/** Colours of the two areas differ by at least this CIE76 ΔE, else the shape could not be seen (ours; LAS&T lets any pair pass). */
const MIN_COLOUR_DIFFERENCE = 20;

/** A random crop of `size` pixels: enlarged when the texture is smaller, quarter turns uniform (seeds: LAS&T 2D scenes). */
export function sampleTexturePaint(rng: Rng, texture: ItemSize, size: number): TexturePaint {
  const scale = Math.max(1, size / Math.min(texture.width, texture.height));
  return {
    kind: 'texture',
    id: texture.id,
    scale,
    left: integer(rng, 0, Math.max(0, Math.round(texture.width * scale) - size)),
    top: integer(rng, 0, Math.max(0, Math.round(texture.height * scale) - size)),
    quarterTurns: integer(rng, 0, 3),
  };
}

/** A colour of LAS&T's range: Lab with L 20–90, a and b −80..80; what sRGB cannot show is clipped. */
export function sampleColour(rng: Rng): Rgb {
  return labToRgb(uniform(rng, 20, 90), uniform(rng, -80, 80), uniform(rng, -80, 80));
}

/** Two colours that a viewer can tell apart. */
export function sampleColourPair(rng: Rng): [Rgb, Rgb] {
  const first = sampleColour(rng);
  for (;;) {
    const second = sampleColour(rng);
    if (colourDifference(first, second) >= MIN_COLOUR_DIFFERENCE)
      return chance(rng, 0.5) ? [first, second] : [second, first];
  }
}

/** A uniform paint of a fixed colour. */
export function solid(rgb: Rgb): Paint {
  return { kind: 'colour', rgb };
}
export const BLACK = solid([0, 0, 0]);
export const WHITE = solid([255, 255, 255]);

/** A paint of the kind that a condition asks for. */
export function samplePaint(rng: Rng, kind: PaintKind, size: number, drawTexture: () => ItemSize): Paint {
  switch (kind) {
    case 'texture':
      return sampleTexturePaint(rng, drawTexture(), size);
    case 'colour':
      return solid(sampleColour(rng));
    case 'black':
      return BLACK;
    case 'white':
      return WHITE;
  }
}

// CIE Lab with the D65 white of sRGB (IEC 61966-2-1); OpenCV uses the same white and constants.
const WHITE_POINT = [0.950456, 1, 1.088754] as const;

/** CIE L*a*b* (D65) to sRGB bytes, clipped to the gamut. */
export function labToRgb(l: number, a: number, b: number): Rgb {
  const fy = (l + 16) / 116;
  const [x, y, z] = [fy + a / 500, fy, fy - b / 200].map(
    (f, i) => WHITE_POINT[i]! * (f > 6 / 29 ? f ** 3 : (f - 4 / 29) * 3 * (6 / 29) ** 2),
  ) as Rgb;
  return [
    3.2404542 * x - 1.5371385 * y - 0.4985314 * z,
    -0.969266 * x + 1.8760108 * y + 0.041556 * z,
    0.0556434 * x - 0.2040259 * y + 1.0572252 * z,
  ].map(linear => Math.round(255 * encodeSrgb(Math.min(1, Math.max(0, linear))))) as Rgb;
}

/** sRGB bytes to CIE L*a*b* (D65). */
export function rgbToLab(rgb: Rgb): Rgb {
  const [r, g, b] = rgb.map(v => decodeSrgb(v / 255)) as Rgb;
  const xyz = [
    0.4124564 * r + 0.3575761 * g + 0.1804375 * b,
    0.2126729 * r + 0.7151522 * g + 0.072175 * b,
    0.0193339 * r + 0.119192 * g + 0.9503041 * b,
  ];
  const [fx, fy, fz] = xyz.map((v, i) => {
    const t = v / WHITE_POINT[i]!;
    return t > (6 / 29) ** 3 ? Math.cbrt(t) : t / (3 * (6 / 29) ** 2) + 4 / 29;
  }) as Rgb;
  return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)];
}

/** CIE76 colour difference. */
function colourDifference(a: Rgb, b: Rgb): number {
  const [l1, a1, b1] = rgbToLab(a);
  const [l2, a2, b2] = rgbToLab(b);
  return Math.hypot(l1 - l2, a1 - a2, b1 - b2);
}

/** The sRGB transfer functions (IEC 61966-2-1), 0–1 to 0–1. */
export function encodeSrgb(linear: number): number {
  return linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
}
export function decodeSrgb(encoded: number): number {
  return encoded <= 0.04045 ? encoded / 12.92 : ((encoded + 0.055) / 1.055) ** 2.4;
}
