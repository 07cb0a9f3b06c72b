/**
 * What a silhouette is, word for word: flood fill for contiguous areas; crop with margin on a canvas; each pixel the weighted
 * mean of the source pixels under a triangle around its centre. Shares no code with extractors/, only types.
 */
import type { Box, GreyImage, Mask } from '../../extractors/image.ts';

/** Pixels of each 8-connected area, row by row, in the order of their first pixels. */
export function floodAreas({ data, width, height }: Mask): number[][] {
  const seen = new Set<number>();
  const areas: number[][] = [];
  for (let start = 0; start < data.length; start++) {
    if (data[start] === 0 || seen.has(start)) continue;
    const area = [start];
    seen.add(start);
    for (let next = 0; next < area.length; next++) {
      const [x, y] = [area[next]! % width, Math.floor(area[next]! / width)];
      for (let dy = -1; dy <= 1; dy++) {
        for (let dx = -1; dx <= 1; dx++) {
          const [column, row] = [x + dx, y + dy];
          if (column < 0 || row < 0 || column >= width || row >= height) continue;
          const beside = row * width + column;
          if (data[beside] === 0 || seen.has(beside)) continue;
          seen.add(beside);
          area.push(beside);
        }
      }
    }
    areas.push(area.sort((a, b) => a - b));
  }
  return areas;
}

/** The part of an image that a rectangle shows, which may reach beyond it: there is 0. */
export function literalCrop(image: GreyImage, { left, top, width, height }: Box): GreyImage {
  const data = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [column, row] = [left + x, top + y];
      if (column < 0 || row < 0 || column >= image.width || row >= image.height) continue;
      data[y * width + x] = image.data[row * image.width + column]!;
    }
  }
  return { data, width, height };
}

/** Resizes rows, then columns, each to 8 bits. */
export function literalResize(image: GreyImage, width: number, height: number): GreyImage {
  return turned(resizedAcross(turned(resizedAcross(image, width)), height));
}

function resizedAcross(image: GreyImage, width: number): GreyImage {
  const data = new Uint8Array(width * image.height);
  const step = image.width / width;
  const reach = Math.max(1, step);
  for (let x = 0; x < width; x++) {
    const weights = Array.from({ length: image.width }, (_, i) => {
      const distance = Math.abs(i + 0.5 - (x + 0.5) * step) / reach;
      return Math.max(0, 1 - distance);
    });
    const sum = weights.reduce((a, b) => a + b, 0);
    // 22 bits behind the point, as Pillow has them: so that one half is one half.
    const rounded = weights.map(weight => Math.round((weight / sum) * 2 ** 22));
    for (let y = 0; y < image.height; y++) {
      let mean = 0;
      for (const [i, weight] of rounded.entries()) mean += (image.data[y * image.width + i]! * weight) / 2 ** 22;
      data[y * width + x] = Math.floor(mean + 0.5);
    }
  }
  return { data, width, height: image.height };
}

function turned({ data, width, height }: GreyImage): GreyImage {
  const swapped = new Uint8Array(data.length);
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) swapped[x * height + y] = data[y * width + x]!;
  return { data: swapped, width: height, height: width };
}

/** The canonical silhouette of all that is set in a mask: soft, white on black. */
export function literalCoverage(mask: Mask, margin: number, maxSide: number): GreyImage {
  const set = [...mask.data.keys()].filter(i => mask.data[i] !== 0);
  const columns = set.map(i => i % mask.width);
  const rows = set.map(i => Math.floor(i / mask.width));
  const [left, top] = [Math.min(...columns), Math.min(...rows)];
  const [width, height] = [Math.max(...columns) - left + 1, Math.max(...rows) - top + 1];
  const ground = Math.round(margin * Math.max(width, height));
  const shown = { left: left - ground, top: top - ground, width: width + 2 * ground, height: height + 2 * ground };
  const scale = maxSide / Math.max(shown.width, shown.height);
  return literalResize(
    literalCrop(mask, shown),
    Math.max(1, Math.round(shown.width * scale)),
    Math.max(1, Math.round(shown.height * scale)),
  );
}
