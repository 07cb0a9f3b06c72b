import type { Mask } from '../../extractors/image.ts';

/**
 * COCO's rule for the pixels of polygons, step by step: each outline is walked place by place on a grid five times as fine
 * as the pixels; between the third and the fourth fine column of a pixel column it flips what is set from there on
 * downwards. It shares nothing with the fast version but types. Coordinates are those of a real picture: the walk takes as
 * many steps as they are apart.
 */
export function literalPolygonMask(polygons: readonly (readonly number[])[], width: number, height: number): Mask {
  const data = new Uint8Array(width * height);
  for (const polygon of polygons) {
    const flips = new Uint8Array(width * height + 1);
    const points = outline(polygon);
    for (let i = 1; i < points.length; i++) {
      const [from, to] = [points[i - 1]!, points[i]!];
      if (from.x === to.x) continue;
      const column = (Math.min(from.x, to.x) + 0.5) / 5 - 0.5;
      if (!Number.isInteger(column) || column < 0 || column >= width) continue;
      const row = Math.ceil(Math.min(height, Math.max(0, (Math.min(from.y, to.y) + 0.5) / 5 - 0.5)));
      flips[column * height + row]! ^= 1;
    }
    // Down the columns: what is set at the bottom of one goes on at the top of the next, if nothing flips it there.
    let set = 0;
    for (let place = 0; place < width * height; place++) {
      set ^= flips[place]!;
      if (set) data[(place % height) * width + Math.floor(place / height)] = 255;
    }
  }
  return { data, width, height };
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Every place of the fine grid that the closed outline goes through. */
function outline(polygon: readonly number[]): Place[] {
  const corners: Place[] = [];
  for (let i = 0; i + 1 < polygon.length; i += 2) {
    corners.push({ x: Math.trunc(5 * polygon[i]! + 0.5), y: Math.trunc(5 * polygon[i + 1]! + 0.5) });
  }
  if (corners.length < 3) return [];
  return [...corners, corners[0]!].flatMap((corner, i, all) => (i === 0 ? [] : line(all[i - 1]!, corner)));
}

/** A step to the next fine column, or the next fine row when the line is steep; always worked out from its left (upper) end. */
function line(from: Place, to: Place): Place[] {
  const [across, down] = [Math.abs(to.x - from.x), Math.abs(to.y - from.y)];
  if (across === 0 && down === 0) return [from];
  const flat = across >= down;
  const backwards = flat ? from.x > to.x : from.y > to.y;
  const [start, end] = backwards ? [to, from] : [from, to];
  const places: Place[] = [];
  for (let step = 0; step <= Math.max(across, down); step++) {
    places.push(
      flat
        ? { x: start.x + step, y: Math.trunc(start.y + ((end.y - start.y) / across) * step + 0.5) }
        : { x: Math.trunc(start.x + ((end.x - start.x) / down) * step + 0.5), y: start.y + step },
    );
  }
  return backwards ? places.reverse() : places;
}
