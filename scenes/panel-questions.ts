import type { PanelSubset, REAL_CONDITION } from './panel-conditions.ts';

/** What a test is about: what its panels share. */
export type PanelKind = PanelSubset | typeof REAL_CONDITION;

/** The thing that is looked for, and what about it may differ between two panels, in words for a reader of the picture. */
const THINGS: Readonly<Record<PanelKind, readonly [thing: string, differences: string]>> = {
  shapes2d: ['2D shape', 'colour, texture, size, position, rotation and background'],
  textures2d: ['texture', 'the outline that it fills, the part of it that is seen, its rotation and the background'],
  shapes3d: ['3D object shape', 'point of view, material, light and surroundings'],
  materials3d: ['material', 'object, point of view, light and surroundings'],
  real: ['object', 'point of view, light and surroundings'],
};

/**
 * Prompts for a test. The first is the question; the others say the same in other words, for a model whose reply was no letter,
 * or to average over wordings.
 */
export function panelPrompts(kind: PanelKind): readonly [question: string, ...alternatives: string[]] {
  const [thing, differences] = THINGS[kind];
  return [
    `In which of the panels B, C and D is the ${thing} identical to the ${thing} in panel A? Answer with a single letter.`,
    `The image has four panels, A, B, C and D. Exactly one of B, C and D contains the same ${thing} as panel A, though ${differences} may differ. Reply with the letter of that panel and nothing else.`,
    `Look at the ${thing} in panel A. In which other panel does this very ${thing} appear again: B, C or D? Give one letter only.`,
    `Compare panel A with panels B, C and D and ignore ${differences}. Write the single letter of the panel whose ${thing} matches that of panel A exactly.`,
  ];
}
