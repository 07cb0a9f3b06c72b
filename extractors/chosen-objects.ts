import { type ConnectedComponent, componentMask, connectedComponents } from './connected-components.ts';
import type { Box, Mask } from './image.ts';
import type { PlacedMask } from './placed-mask.ts';

/** A mask with its class. */
export interface AnnotatedMask extends PlacedMask {
  /** Set pixels. */
  readonly area: number;
  /** Masks of one class have the same. */
  readonly category: string;
}

/** Which objects of a picture are shown. */
export interface ObjectChoice {
  /** Whether each mask is an object, or all of a class, so that each of its contiguous areas is an object. */
  readonly masks: 'objects' | 'classes';
  /** All pixels of the object's class in the picture instead of the object. */
  readonly wholeClass: boolean;
  /** Every object instead of the dominant one; with `wholeClass` every class. */
  readonly allInstances: boolean;
}

/** An object that is shown. */
export interface ChosenObject<T> extends PlacedMask {
  /** The mask that it is, or is a part of; of a whole class the one of its dominant object. */
  readonly annotation: T;
  /** Unique in its picture: number of the mask, `3`; of a contiguous area in it, `3-0`; of a whole class, `3-class`. */
  readonly name: string;
  /** Pixels. */
  readonly area: number;
  /** Contiguous areas (8-connected). */
  readonly parts: number;
}

/** An object before it is cut out: a whole mask, or one contiguous area of it. */
interface Candidate {
  readonly number: number;
  /** Null: the whole mask. */
  readonly part: number | null;
  readonly components: readonly ConnectedComponent[];
  /** Pixels of the largest contiguous area. */
  readonly largest: number;
}

/**
 * The objects to show, the largest first: by the largest contiguous area of each, in the order of the masks where they are
 * equal. The first is the dominant object. An object of a mask of its own keeps all its parts: what lies before a cat must not
 * cut off half of it. Only contiguous areas tell objects apart where a mask is all of a class.
 * @returns none for no masks.
 */
export function chooseObjects<T extends AnnotatedMask>(
  annotations: readonly T[],
  { masks, wholeClass, allInstances }: ObjectChoice,
): ChosenObject<T>[] {
  const ranked = allInstances ? allCandidates(annotations, masks) : dominant(annotations, masks);
  if (!wholeClass) return ranked.map(candidate => cutOut(annotations, candidate));
  const categories = new Set<string>();
  const chosen: ChosenObject<T>[] = [];
  for (const { number } of ranked) {
    const annotation = annotations[number]!;
    if (categories.has(annotation.category)) continue;
    categories.add(annotation.category);
    chosen.push(wholeClassOf(annotations, number));
  }
  return chosen;
}

function allCandidates(annotations: readonly AnnotatedMask[], masks: ObjectChoice['masks']): Candidate[] {
  const candidates = annotations.flatMap((annotation, number) => candidatesOf(annotation, number, masks));
  // Sorting is stable: equal ones stay in order.
  return candidates.sort((a, b) => b.largest - a.largest);
}

/** The first of all candidates, without looking at masks that are too small to hold it. */
function dominant(annotations: readonly AnnotatedMask[], masks: ObjectChoice['masks']): Candidate[] {
  let best: Candidate | undefined;
  for (const number of annotations.map((_, i) => i).sort((a, b) => annotations[b]!.area - annotations[a]!.area)) {
    if (best && annotations[number]!.area < best.largest) break;
    for (const candidate of candidatesOf(annotations[number]!, number, masks)) {
      const larger = candidate.largest - (best?.largest ?? 0);
      if (!best || larger > 0 || (larger === 0 && number < best.number)) best = candidate;
    }
  }
  return best ? [best] : [];
}

function candidatesOf({ mask }: AnnotatedMask, number: number, masks: ObjectChoice['masks']): Candidate[] {
  const components = connectedComponents(mask);
  if (masks === 'objects') {
    const largest = components.reduce((most, { area }) => Math.max(most, area), 0);
    return [{ number, part: null, components, largest }];
  }
  return components.map((component, part) => ({ number, part, components: [component], largest: component.area }));
}

function cutOut<T extends AnnotatedMask>(
  annotations: readonly T[],
  { number, part, components }: Candidate,
): ChosenObject<T> {
  const annotation = annotations[number]!;
  if (part === null) {
    const { mask, box, area } = annotation;
    return { annotation, name: String(number), mask, box, area, parts: components.length };
  }
  const component = components[0]!;
  const { left, top } = annotation.box;
  const box = { ...component.box, left: left + component.box.left, top: top + component.box.top };
  const mask = componentMask(component);
  return { annotation, name: `${number}-${part}`, mask, box, area: component.area, parts: 1 };
}

function wholeClassOf<T extends AnnotatedMask>(annotations: readonly T[], number: number): ChosenObject<T> {
  const annotation = annotations[number]!;
  const own = annotations.filter(({ category }) => category === annotation.category);
  const { mask, box } = own.length === 1 ? annotation : union(own);
  const components = connectedComponents(mask);
  const area = components.reduce((sum, component) => sum + component.area, 0);
  return { annotation, name: `${number}-class`, mask, box, area, parts: components.length };
}

/** What any of some masks covers. */
function union(placed: readonly PlacedMask[]): PlacedMask {
  const left = Math.min(...placed.map(({ box }) => box.left));
  const top = Math.min(...placed.map(({ box }) => box.top));
  const width = Math.max(...placed.map(({ box }) => box.left + box.width)) - left;
  const height = Math.max(...placed.map(({ box }) => box.top + box.height)) - top;
  const data = new Uint8Array(width * height);
  for (const { mask, box } of placed) {
    for (let row = 0; row < mask.height; row++) {
      const target = (box.top - top + row) * width + box.left - left;
      const source = row * mask.width;
      for (let column = 0; column < mask.width; column++) data[target + column]! |= mask.data[source + column]!;
    }
  }
  const mask: Mask = { data, width, height };
  const box: Box = { left, top, width, height };
  return { mask, box };
}
