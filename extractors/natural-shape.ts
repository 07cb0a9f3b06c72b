/**
 * Natural shapes: the largest connected component of a randomly chosen colour channel above a random threshold, when it is
 * large, thick and clear of the image's edges (LAS&T, arXiv 2503.23062, and its authors' script). One image is tried at up
 * to 300 thresholds, so most of this file is about the thresholds that need not be looked at.
 */
import { chance, pick } from '../sampling/distributions.ts';
import type { Rng } from '../sampling/rng.ts';
import { type Channel, channelMaximum, HSV_CHANNELS, RGB_CHANNELS } from './color-channels.ts';
import type { Box, Mask, RgbImage } from './image.ts';
import { CELL_SIDE, ChannelMasks, type ComponentSummary } from './kernel/channel-masks.ts';

/** The rule by which shapes are found. Sizes hold for an image whose short side is 512 px; see {@link scaledRule}. */
export interface NaturalShapeOptions {
  /** How often a channel is drawn, at most. */
  readonly channelDraws: number;
  /** How many thresholds are drawn for each of these. */
  readonly thresholds: number;
  /** Photos are shrunk to this short side before anything else, in pixels; smaller ones stay as they are. */
  readonly workSide: number;
  /** Smallest area of a shape, in pixels. */
  readonly minArea: number;
  /** Largest area of a shape, as a share of the image, 0–1. */
  readonly maxAreaShare: number;
  /** How many pixels a shape's bounding box keeps from every edge of the image. */
  readonly border: number;
  /** Side of the square a shape is eroded with, in pixels, odd. */
  readonly erosionSide: number;
  /** How many pixels of a shape must survive the erosion. */
  readonly minErodedArea: number;
  /** Probability that a drawn channel is one of hue, saturation and value, not of red, green and blue. */
  readonly hsvProbability: number;
  /** Probability that a drawn channel is inverted. */
  readonly invertProbability: number;
}

/** The published values. */
export const DEFAULTS: NaturalShapeOptions = {
  channelDraws: 15,
  thresholds: 20,
  workSide: 512,
  minArea: 20_000,
  maxAreaShare: 0.5,
  border: 5,
  erosionSide: 11,
  minErodedArea: 15_000,
  hsvProbability: 0.5,
  invertProbability: 0.5,
};

/** The short side that the sizes of {@link NaturalShapeOptions} hold for, in pixels. */
const REFERENCE_SIDE = 512;

/** One look at an image: the mask of the pixels whose value exceeds the threshold. */
export interface Try {
  readonly channel: Channel;
  /** Whether the channel's maximum minus the channel is looked at. */
  readonly inverted: boolean;
  /** As a share of the channel's full range, in [0, 1). */
  readonly threshold: number;
}

/**
 * All tries of one image in the order they are made: the thresholds of the first channel drawn, then those of the second.
 * A channel draw takes three numbers from `rng` (kind of channel, channel, inversion) and one for each threshold.
 */
export function drawTries(rng: Rng, options: NaturalShapeOptions): Try[] {
  const tries: Try[] = [];
  for (let draw = 0; draw < options.channelDraws; draw++) {
    const channel = pick<Channel>(rng, chance(rng, options.hsvProbability) ? HSV_CHANNELS : RGB_CHANNELS);
    const inverted = chance(rng, options.invertProbability);
    for (let i = 0; i < options.thresholds; i++) tries.push({ channel, inverted, threshold: rng.next() });
  }
  return tries;
}

/** The sizes of a rule for one image, in pixels. */
export interface ScaledRule {
  readonly minArea: number;
  readonly minErodedArea: number;
  /** Odd, at least 3. */
  readonly erosionSide: number;
  /** At least 1. */
  readonly border: number;
}

/** The sizes for an image with another short side than 512 px: lengths grow with it, areas with its square. */
export function scaledRule(options: NaturalShapeOptions, shortSide: number): ScaledRule {
  const scale = shortSide / REFERENCE_SIDE;
  return {
    minArea: options.minArea * scale ** 2,
    minErodedArea: options.minErodedArea * scale ** 2,
    erosionSide: Math.max(3, 2 * Math.round((options.erosionSide * scale - 1) / 2) + 1),
    border: Math.max(1, Math.round(options.border * scale)),
  };
}

/**
 * Why the largest component of a try is no shape: there is none, it comes too near an edge, it has too few or too many
 * pixels, too few of them survive the erosion. One that fails in several ways counts under one of them; one that no
 * labelling looked at, under what proves that it fails (`border` then means that all components clear of the edges are too
 * small, or smaller than one that is not).
 */
export type Rejection = 'empty' | 'border' | 'too-small' | 'too-large' | 'too-thin';

interface Cutout {
  /** 0 or 255, in the box; pixels of other components are 0. Holes stay holes. */
  readonly mask: Mask;
  /** The bounding box in the image looked at: no smaller one holds the shape. */
  readonly box: Box;
  /** In pixels. */
  readonly area: number;
}

export interface NaturalShape extends Cutout {
  /** The try that found it, and its index in the drawing order. */
  readonly try: Try;
  readonly tryIndex: number;
}

/**
 * The shape of the first try, in the order given, whose largest component is accepted.
 * @param image already shrunk to the working size; sizes are scaled to its short side.
 * @returns `shape`, undefined when no try gives one, and how many tries before it were rejected for which reason.
 */
export function findNaturalShape(
  image: RgbImage,
  tries: readonly Try[],
  options: NaturalShapeOptions,
): { shape: NaturalShape | undefined; rejections: Record<Rejection, number> } {
  const rejections: Record<Rejection, number> = { empty: 0, border: 0, 'too-small': 0, 'too-large': 0, 'too-thin': 0 };
  const search = new ShapeSearch(image, options);
  for (let first = 0, next = 0; first < tries.length; first = next) {
    const { channel, inverted } = tries[first]!;
    while (next < tries.length && tries[next]!.channel === channel && tries[next]!.inverted === inverted) next++;
    const levels = tries.slice(first, next).map(({ threshold }) => Math.floor(threshold * channelMaximum(channel)));
    for (const [i, verdict] of search.judge(channel, inverted, levels).entries()) {
      const tryIndex = first + i;
      if (typeof verdict !== 'string') return { shape: { ...verdict, try: tries[tryIndex]!, tryIndex }, rejections };
      rejections[verdict]++;
    }
  }
  return { shape: undefined, rejections };
}

type Verdict = Rejection | Cutout;

/**
 * What is known of the masks of a channel. A value exceeds a threshold t exactly when it exceeds the whole number
 * ⌊t × maximum⌋, its *level*, so there are no more than 255 of them.
 */
interface ChannelFacts {
  readonly channel: Channel;
  readonly inverted: boolean;
  /** How many pixels each level's mask has. */
  readonly pixels: Uint32Array;
  /** Levels not judged yet are undefined. */
  readonly verdicts: (Verdict | undefined)[];
}

/**
 * Judges the masks of one image, and as few of them as possible by labelling. The masks of a channel are nested: each holds
 * those of all higher levels, and a component lies inside one component of every lower level. So one labelled mask proves
 * things of others:
 * - its largest component is too small: so is that of every higher level;
 * - it is too large: so is that of every lower level;
 * - its components at the image's edges stay at the edges at every lower level. What is clear of the edges there has only
 *   the remaining pixels of that mask; when these are fewer than the smallest shape needs, or than the largest component at
 *   the edges has already, the level is rejected.
 * The last two need areas from below only, which a mask of cells whose pixels are all set gives as well, in a fraction of
 * the time. It is labelled first.
 */
class ShapeSearch {
  readonly #masks: ChannelMasks;
  readonly #rule: ScaledRule;
  readonly #maxArea: number;
  readonly #facts = new Map<string, ChannelFacts>();

  constructor(image: RgbImage, options: NaturalShapeOptions) {
    const { width, height } = image;
    this.#masks = new ChannelMasks(image);
    this.#rule = scaledRule(options, Math.min(width, height));
    this.#maxArea = options.maxAreaShare * width * height;
  }

  /** The verdicts of `levels` of a channel, in order, up to and with the first that is accepted. */
  judge(channel: Channel, inverted: boolean, levels: readonly number[]): Verdict[] {
    const facts = this.#factsOf(channel, inverted);
    let wanted = levels;
    for (;;) {
      const open = wanted.filter(level => facts.verdicts[level] === undefined);
      if (open.length === 0) return wanted.map(level => facts.verdicts[level]!);
      // Near the top, because what the edges prove reaches downwards, but not at it: the highest are mostly too small.
      const level = open.sort((a, b) => a - b)[Math.floor(0.75 * open.length)]!;
      this.#judgeLevel(facts, level);
      if (typeof facts.verdicts[level] === 'object') wanted = wanted.slice(0, wanted.indexOf(level) + 1);
    }
  }

  #factsOf(channel: Channel, inverted: boolean): ChannelFacts {
    const name = inverted ? `inverted ${channel}` : channel;
    let facts = this.#facts.get(name);
    if (!facts) {
      const pixels = this.#masks.pixelsAbove(channel, inverted);
      facts = { channel, inverted, pixels, verdicts: Array.from(pixels, count => this.#verdictOfCount(count)) };
      this.#facts.set(name, facts);
    }
    return facts;
  }

  #verdictOfCount(pixels: number): Rejection | undefined {
    if (pixels === 0) return 'empty';
    return pixels < this.#rule.minArea ? 'too-small' : undefined;
  }

  #judgeLevel(facts: ChannelFacts, level: number): void {
    const { channel, inverted, verdicts } = facts;
    // Rounded down: a cell in the cells' margin has a pixel in the margin, even where cells do not fill the image.
    const cellMargin = Math.floor(this.#rule.border / CELL_SIDE);
    const cells = this.#masks.labelCells(channel, inverted, level, cellMargin);
    this.#rejectLowerLevels(facts, level, cells, CELL_SIDE ** 2);
    if (verdicts[level] !== undefined) return;
    const summary = this.#masks.label(channel, inverted, level, this.#rule.border);
    this.#rejectLowerLevels(facts, level, summary, 1);
    if (summary.largest < this.#rule.minArea) reject(verdicts, level, verdicts.length, 'too-small');
    verdicts[level] ??= summary.largestInMargin ? 'border' : this.#cutOut(summary.largest);
  }

  /** Rejects `level` and those below it as far as the components at `level` prove it; `summary` may count too few pixels. */
  #rejectLowerLevels(facts: ChannelFacts, level: number, summary: ComponentSummary, unit: number): void {
    const { pixels, verdicts } = facts;
    if (summary.largest * unit > this.#maxArea) reject(verdicts, 0, level + 1, 'too-large');
    const needed = Math.max(this.#rule.minArea, summary.marginLargest * unit);
    let from = level + 1;
    while (from > 0 && pixels[from - 1]! - summary.marginTotal * unit < needed) from--;
    reject(verdicts, from, level + 1, 'border');
  }

  /** The largest component of the mask labelled last, when it is thick enough. */
  #cutOut(area: number): Verdict {
    const box = this.#masks.largestBox();
    const thick = this.#masks.largestEroded(box, this.#rule.erosionSide) >= this.#rule.minErodedArea;
    return thick ? { mask: this.#masks.largestMask(box), box, area } : 'too-thin';
  }
}

/** Levels `from` to `to` − 1, but for those that have a verdict. */
function reject(verdicts: (Verdict | undefined)[], from: number, to: number, reason: Rejection): void {
  for (let level = from; level < to; level++) verdicts[level] ??= reason;
}
