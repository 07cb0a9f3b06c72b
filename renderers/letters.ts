import type { Box, GreyImage, RgbImage } from '../extractors/image.ts';
import type { PanelName } from '../scenes/panel-scene.ts';
import { mix } from './composite.ts';

/**
 * The letters of panels: outlines of our own and no font, so that a test's picture is the same on every machine. White with a
 * black outline, they read on any ground; the grey of the cross around that tells them from white shapes on black.
 */
/** Where they may stand, in the order in which places are taken. */
export const CORNERS = ['upper-left', 'upper-right', 'lower-left', 'lower-right'] as const;
export type Corner = (typeof CORNERS)[number];
/** Drawn on the picture, or on a dark square of their own. */
export const LETTER_KINDS = ['outlined', 'badge'] as const;

/** Where the letters of a test stand, one place for all its panels, and how they are drawn there. */
export interface LetterPlace {
  readonly corner: Corner;
  readonly kind: (typeof LETTER_KINDS)[number];
}

/** Shares of a panel's side: height of a letter, widths of its outline and of the rim around that, ground around the letter, distance from the edges. */
const HEIGHT = 0.09;
const OUTLINE = 0.008;
const RIM = 0.006;
const PADDING = 0.016;
const MARGIN = 0.016;

const WHITE = 255;
const BLACK = 0;
/** Grey of what belongs to the sheet and to no panel: the cross between them, and the rim of letters. */
export const FRAME = 128;
/** Of a badge: dark, and not the black that shapes and backgrounds may have. */
const BADGE = 32;

/** The square of a panel that a letter, its outline and the ground around it take up. @param size side of the panel, pixels. */
export function letterBox(corner: Corner, size: number): Box {
  const side = Math.round(size * HEIGHT) + 2 * Math.round(size * PADDING);
  const near = Math.round(size * MARGIN);
  const far = size - near - side;
  return {
    left: corner.endsWith('left') ? near : far,
    top: corner.startsWith('upper') ? near : far,
    width: side,
    height: side,
  };
}

/**
 * The first corner in which no panel has anything to be hidden; else a badge in the first one.
 * @param masks what is to be seen in each panel; undefined where that is not known.
 */
export function placeLetters(masks: readonly GreyImage[] | undefined): LetterPlace {
  const corner = CORNERS.find(candidate => masks?.every(mask => isFree(mask, letterBox(candidate, mask.width))));
  return corner ? { corner, kind: 'outlined' } : { corner: CORNERS[0], kind: 'badge' };
}

function isFree({ width, data }: GreyImage, box: Box): boolean {
  for (let row = box.top; row < box.top + box.height; row++) {
    const start = row * width + box.left;
    if (data.subarray(start, start + box.width).some(covered => covered > 0)) return false;
  }
  return true;
}

/**
 * Draws a panel's letter into a picture.
 * @param panel the panel's place in the picture, a square.
 */
export function drawLetter({ data, width }: RgbImage, letter: PanelName, place: LetterPlace, panel: Box): void {
  const size = panel.width;
  const box = letterBox(place.corner, size);
  const outline = size * OUTLINE;
  const rim = outline + size * RIM;
  const ground = place.kind === 'badge' ? roundedSquare(box.width) : undefined;
  const inside = letterDistances(letter, size);
  for (let y = 0; y < box.height; y++) {
    for (let x = 0; x < box.width; x++) {
      const at = 3 * ((panel.top + box.top + y) * width + panel.left + box.left + x);
      const depth = inside[y * box.width + x]!;
      for (let channel = at; channel < at + 3; channel++) {
        let value = data[channel]!;
        if (ground) value = mix(BADGE, value, share(ground(x, y)));
        value = mix(FRAME, value, share(depth + rim));
        value = mix(BLACK, value, share(depth + outline));
        data[channel] = mix(WHITE, value, share(depth));
      }
    }
  }
}

/** Share of a pixel that lies inside an edge, by how deep its centre lies inside it, pixels. */
const share = (depth: number) => Math.min(1, Math.max(0, depth + 0.5));

/** How deep a pixel of a square with round corners lies in it. */
function roundedSquare(side: number): (x: number, y: number) => number {
  const radius = side / 6;
  const reach = side / 2 - radius;
  return (x, y) => {
    const dx = Math.max(0, Math.abs(x + 0.5 - side / 2) - reach);
    const dy = Math.max(0, Math.abs(y + 0.5 - side / 2) - reach);
    return radius - Math.hypot(dx, dy);
  };
}

const knownDistances = new Map<string, Float32Array>();

/** For each pixel of a letter's box, how deep its centre lies in the letter, pixels; negative outside. */
function letterDistances(letter: PanelName, size: number): Float32Array {
  const key = `${letter}/${size}`;
  let distances = knownDistances.get(key);
  if (!distances) {
    distances = measure(letter, size);
    knownDistances.set(key, distances);
  }
  return distances;
}

function measure(letter: PanelName, size: number): Float32Array {
  const { width: side } = letterBox('upper-left', size);
  const height = Math.round(size * HEIGHT);
  const padding = (side - height) / 2;
  const { width, contours } = OUTLINES[letter];
  const edges = contours.flatMap(contour => contour.map((from, i): Edge => [from, contour[(i + 1) % contour.length]!]));
  return Float32Array.from({ length: side * side }, (_, pixel) => {
    const x = ((pixel % side) + 0.5 - side / 2) / height + width / 2;
    const y = (Math.floor(pixel / side) + 0.5 - padding) / height;
    return height * depthIn(edges, x, y);
  });
}

type Point = readonly [x: number, y: number];
type Edge = readonly [Point, Point];

/** Distance to the nearest edge; positive where a ray crosses an odd number of edges. */
function depthIn(edges: readonly Edge[], x: number, y: number): number {
  let nearest = Number.POSITIVE_INFINITY;
  let inside = false;
  for (const [[ax, ay], [bx, by]] of edges) {
    const [dx, dy] = [bx - ax, by - ay];
    const along = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)));
    nearest = Math.min(nearest, Math.hypot(x - ax - along * dx, y - ay - along * dy));
    if (ay > y !== by > y && x < ax + ((y - ay) / dy) * dx) inside = !inside;
  }
  return inside ? nearest : -nearest;
}

/** Points of an arc of an ellipse, angles in degrees, 0 to the right and 90 downwards. */
function arc([cx, cy]: Point, [rx, ry]: Point, from: number, to: number): Point[] {
  const steps = 24;
  return Array.from({ length: steps + 1 }, (_, i) => {
    const angle = ((from + ((to - from) * i) / steps) * Math.PI) / 180;
    return [cx + rx * Math.cos(angle), cy + ry * Math.sin(angle)];
  });
}

/** Width of the strokes, letters being 1 high. */
const STROKE = 0.2;

/** Closed lines around and in the letters: 1 high, y downwards, x from 0 to their width. A point in two of them is outside. */
const OUTLINES: Readonly<Record<PanelName, { readonly width: number; readonly contours: readonly Point[][] }>> = {
  A: {
    width: 0.94,
    contours: [
      [
        [0, 1],
        [0.35, 0],
        [0.59, 0],
        [0.94, 1],
        [0.725, 1],
        [0.655, 0.79],
        [0.285, 0.79],
        [0.215, 1],
      ],
      [
        [0.47, 0.22],
        [0.342, 0.61],
        [0.598, 0.61],
      ],
    ],
  },
  B: {
    width: 0.74,
    contours: [
      [[0, 0], ...arc([0.42, 0.26], [0.28, 0.26], -90, 57), ...arc([0.44, 0.72], [0.3, 0.28], -58, 90), [0, 1]],
      [[STROKE, 0.17], ...arc([0.4, 0.285], [0.11, 0.115], -90, 90), [STROKE, 0.4]],
      [[STROKE, 0.57], ...arc([0.42, 0.7], [0.12, 0.13], -90, 90), [STROKE, 0.83]],
    ],
  },
  C: {
    width: 0.84,
    contours: [[...arc([0.46, 0.5], [0.46, 0.5], -42, -318), ...arc([0.46, 0.5], [0.25, 0.31], 42, 318)]],
  },
  D: {
    width: 0.8,
    contours: [
      [[0, 0], ...arc([0.34, 0.5], [0.46, 0.5], -90, 90), [0, 1]],
      [[STROKE, 0.18], ...arc([0.34, 0.5], [0.25, 0.32], -90, 90), [STROKE, 0.82]],
    ],
  },
};
