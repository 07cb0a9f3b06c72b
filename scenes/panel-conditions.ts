import {
  SHAPE_CONDITIONS,
  type ShapeCondition,
  type ShapeConditionName,
  TEXTURE_CONDITIONS,
  type TextureCondition,
  type TextureConditionName,
} from './conditions.ts';
import type { Quantity } from './recipe3d.ts';

/** What the panels of a test have in common: a column of LAS&T's Tables 1 to 4. The subset says what is looked for. */
export type PanelCondition =
  | { readonly subset: 'shapes2d'; readonly values: ShapeCondition }
  | { readonly subset: 'textures2d'; readonly values: TextureCondition }
  | PanelCondition3d;
export interface PanelCondition3d {
  readonly subset: 'shapes3d' | 'materials3d';
  /** What differs in every panel; the rest is the same in all four. */
  readonly vary: readonly Quantity[];
}
export type PanelSubset = PanelCondition['subset'];

const TABLE_1 = [
  'natural-coloured-coloured-rotated',
  'semantic-coloured-coloured-rotated',
  'natural-textured-textured-rotated',
  'semantic-textured-textured-rotated',
  'natural-coloured-coloured-unrotated',
  'natural-black-white-rotated',
  'natural-black-white-unrotated',
  'natural-textured-black-unrotated',
  'natural-textured-textured-unrotated',
] as const satisfies readonly ShapeConditionName[];

/** Table 2 but for its last column, photographs. */
const TABLE_2 = {
  'shapes3d-orientation': ['orientation'],
  'shapes3d-material': ['material'],
  'shapes3d-orientation-material': ['orientation', 'material'],
  'shapes3d-all': ['orientation', 'material', 'environment'],
} as const satisfies Record<string, readonly Quantity[]>;

const TABLE_3 = [
  'textured-different',
  'textured-same',
  'black-different',
  'black-same',
] as const satisfies readonly TextureConditionName[];

/** Another object is seen from another side: there is no orientation that two objects share. */
const TABLE_4 = {
  'materials3d-object': ['orientation', 'object'],
  'materials3d-environment': ['environment'],
  'materials3d-object-environment': ['orientation', 'object', 'environment'],
} as const satisfies Record<string, readonly Quantity[]>;

/** A column of a table by name. */
export type PanelConditionName =
  | `shapes2d-${(typeof TABLE_1)[number]}`
  | keyof typeof TABLE_2
  | `textures2d-${(typeof TABLE_3)[number]}`
  | keyof typeof TABLE_4;

/** All columns that are drawn, in the order of the tables. */
export const PANEL_CONDITIONS: Readonly<Record<PanelConditionName, PanelCondition>> =
  Object.fromEntries<PanelCondition>([
    ...TABLE_1.map(name => [`shapes2d-${name}`, { subset: 'shapes2d', values: SHAPE_CONDITIONS[name] }] as const),
    ...Object.entries(TABLE_2).map(([name, vary]) => [name, { subset: 'shapes3d', vary }] as const),
    ...TABLE_3.map(name => [`textures2d-${name}`, { subset: 'textures2d', values: TEXTURE_CONDITIONS[name] }] as const),
    ...Object.entries(TABLE_4).map(([name, vary]) => [name, { subset: 'materials3d', vary }] as const),
  ]) as Record<PanelConditionName, PanelCondition>;

export const PANEL_CONDITION_NAMES = Object.keys(PANEL_CONDITIONS) as [PanelConditionName, ...PanelConditionName[]];

/** Table 2's last column: tests from photographs of objects, which are given and not drawn. */
export const REAL_CONDITION = 'real';
/** A column of a table, drawn or not. */
export type ConditionName = PanelConditionName | typeof REAL_CONDITION;
