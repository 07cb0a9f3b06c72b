import { escapeHtml, grouped } from './html.ts';

/** Charts as SVG and HTML: they take their colours from the page, which has one set for light and one for dark. */

/** Of histograms, in their own units, about a pixel each. */
const WIDTH = 320;
const HEIGHT = 96;
const FOOT = 16;

/** The axis of a histogram. */
export interface Axis {
  readonly low: number;
  readonly high: number;
  readonly bins: number;
  /** Words for a value at the axis. */
  readonly text: (value: number) => string;
}

/** How many values fall in each bin; what is beyond the axis counts in the bin at its end. */
export function binCounts(values: Iterable<number>, { low, high, bins }: Axis): number[] {
  const counts = new Array<number>(bins).fill(0);
  for (const value of values) {
    const bin = Math.floor(((value - low) / (high - low)) * bins);
    counts[Math.min(bins - 1, Math.max(0, bin))]!++;
  }
  return counts;
}

/** Bars over an axis with its ends and its middle named; the highest bar takes all the height. */
export function histogram(title: string, values: readonly number[], axis: Axis): string {
  const counts = binCounts(values, axis);
  const highest = Math.max(1, ...counts);
  const step = (axis.high - axis.low) / axis.bins;
  const bars = counts.map((count, i) => {
    const height = (HEIGHT * count) / highest;
    const place = `x="${round((WIDTH * i) / axis.bins + 0.5)}" y="${round(HEIGHT - height)}" width="${round(WIDTH / axis.bins - 1)}" height="${round(height)}"`;
    const name = `${axis.text(axis.low + i * step)} to ${axis.text(axis.low + (i + 1) * step)}: ${count}`;
    return count === 0 ? '' : `<rect class="bar" ${place}><title>${escapeHtml(name)}</title></rect>`;
  });
  const ticks = [0, 0.5, 1].map(at => {
    const anchor = at === 0 ? 'start' : at === 1 ? 'end' : 'middle';
    const text = escapeHtml(axis.text(axis.low + at * (axis.high - axis.low)));
    return `<text x="${round(at * WIDTH)}" y="${HEIGHT + FOOT - 3}" text-anchor="${anchor}">${text}</text>`;
  });
  return figure(
    title,
    `${grouped(values.length)} values`,
    `<svg viewBox="0 -1 ${WIDTH} ${HEIGHT + FOOT + 1}" role="img" aria-label="Histogram: ${escapeHtml(title)}">` +
      `${bars.join('')}<path class="axis" d="M0 ${HEIGHT}H${WIDTH}"/>${ticks.join('')}</svg>`,
  );
}

/** Rows of a bar, its name and its number, the longest bar as wide as there is room. */
export function bars(
  rows: readonly { readonly name: string; readonly value: number; readonly text: string }[],
): string {
  const most = Math.max(1e-9, ...rows.map(({ value }) => value));
  const lines = rows.map(
    ({ name, value, text }) =>
      `<li><span>${escapeHtml(name)}</span><i style="width:${round((100 * value) / most)}%"></i><b>${escapeHtml(text)}</b></li>`,
  );
  return rows.length === 0 ? '' : `<ul class="bars">${lines.join('\n')}</ul>`;
}

/** A colour as it is on screen and as it is measured. */
export interface SampledColour {
  readonly rgb: readonly [number, number, number];
  readonly lab: readonly [number, number, number];
}

/** Half the side of the plane of a* and b* that is shown; what lies farther out is left out. */
const AB = 60;

/**
 * Colours at their places in the plane of a* (green to red) and b* (blue to yellow), each in its own colour.
 * @param caption what they are of.
 */
export function colourPlane(title: string, caption: string, colours: readonly SampledColour[]): string {
  const dots = colours
    .filter(({ lab }) => Math.abs(lab[1]) <= AB && Math.abs(lab[2]) <= AB)
    .map(({ rgb, lab }) => `<circle cx="${round(lab[1])}" cy="${round(-lab[2])}" r="1.8" fill="${css(rgb)}"/>`);
  return figure(
    title,
    caption,
    `<svg class="plane" viewBox="${-AB} ${-AB} ${2 * AB} ${2 * AB}" role="img" aria-label="${escapeHtml(title)}: mean colours">` +
      `<path class="axis" d="M${-AB} 0H${AB}M0 ${-AB}V${AB}"/>${dots.join('')}` +
      `<text x="${AB - 2}" y="-2" text-anchor="end">a*</text><text x="2" y="${6 - AB}">b*</text></svg>`,
  );
}

/** Colours next to each other, from dark to light. */
export function swatches(title: string, colours: readonly SampledColour[]): string {
  const width = WIDTH / Math.max(1, colours.length);
  const strips = [...colours]
    .sort((a, b) => a.lab[0] - b.lab[0])
    .map(
      ({ rgb }, i) => `<rect x="${round(i * width)}" width="${round(width + 0.3)}" height="24" fill="${css(rgb)}"/>`,
    );
  return figure(
    title,
    'mean colours, dark to light',
    `<svg class="swatches" viewBox="0 0 ${WIDTH} 24" preserveAspectRatio="none" role="img" aria-label="${escapeHtml(title)}: mean colours">${strips.join('')}</svg>`,
  );
}

/**
 * Directions as dots on the two halves of a sphere, in Lambert's azimuthal projection, which keeps areas: where directions are
 * uniform, dots are equally dense everywhere.
 * @param directions unit vectors. The left half is z ≥ 0 seen from +z, x to the right; the right one is z < 0 seen from −z.
 */
export function hemispheres(
  title: string,
  caption: string,
  directions: readonly (readonly [number, number, number])[],
): string {
  const dots = directions.map(direction => {
    const { x, y, back } = lambert(direction);
    return `<circle class="dot" cx="${round(100 * x + (back ? 310 : 102))}" cy="${round(102 - 100 * y)}" r="2.6"/>`;
  });
  const half = (centre: number) =>
    `<circle class="globe" cx="${centre}" cy="102" r="100"/><path class="axis" d="M${centre - 100} 102H${centre + 100}M${centre} 2V202"/>`;
  return figure(
    title,
    caption,
    `<svg viewBox="0 0 412 220" role="img" aria-label="${escapeHtml(title)}: directions on a sphere">${half(102)}${half(310)}${dots.join('')}` +
      '<text x="102" y="217" text-anchor="middle">front (+z)</text><text x="310" y="217" text-anchor="middle">back (−z)</text></svg>',
  );
}

/** Place of a unit vector in the unit disc of its hemisphere: equal areas of the sphere are equal areas of the disc. */
export function lambert([x, y, z]: readonly [number, number, number]): { x: number; y: number; back: boolean } {
  const back = z < 0;
  const scale = 1 / Math.sqrt(1 + Math.abs(z));
  return { x: (back ? -x : x) * scale, y: y * scale, back };
}

function figure(title: string, caption: string, inside: string): string {
  return `<figure><figcaption><b>${escapeHtml(title)}</b> ${escapeHtml(caption)}</figcaption>${inside}</figure>`;
}

const css = ([r, g, b]: readonly [number, number, number]) =>
  `#${[r, g, b].map(value => Math.round(value).toString(16).padStart(2, '0')).join('')}`;
const round = (value: number) => Number(value.toFixed(1));
