import { type ShapeSource, shapeConditionName, textureConditionName } from '../../scenes/conditions.ts';
import { shapeConditionOf, textureConditionOf } from '../../scenes/recipe.ts';
import type { BankKind } from '../bank-kinds.ts';
import type { Configuration } from '../configuration.ts';
import { SUBSETS, type Subset } from '../generate-options.ts';
import type { RunContents } from './survey.ts';

const TITLES: Readonly<Record<Subset, string>> = {
  shapes2d: '2D shapes',
  textures2d: '2D textures',
  shapes3d: '3D shapes',
  materials3d: '3D materials',
  silhouettes: 'silhouettes of objects',
};

/** The subsets that there is something of. */
export function subsetsIn({ shards }: RunContents): Subset[] {
  return SUBSETS.filter(subset => shards.some(shard => shard.subset === subset));
}

/** What a run is called: by what it holds, since names of recipes and folders tell a stranger nothing. */
export function titleOf(contents: RunContents): string {
  const names: string[] = subsetsIn(contents);
  const banks = [...new Set(contents.shards.flatMap(({ bank }) => bank?.replaceAll('-', ' ') ?? []))];
  if (names.length === 0 && contents.panels.length > 0) names.push('panel tests');
  if (names.length === 0 && banks.length > 0) names.push(`banks of ${joined(banks)}`);
  return titleFrom(names);
}

/** A title that names what there is: subsets, and other things by their names. */
export function titleFrom(names: readonly string[]): string {
  const title = joined(names.map(name => (Object.hasOwn(TITLES, name) ? TITLES[name as Subset] : name)));
  return title === '' ? 'Nothing yet' : title[0]!.toUpperCase() + title.slice(1);
}

function joined(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** One sentence: what each subset is. */
const WHAT: Readonly<Record<Subset, string>> = {
  shapes2d:
    'a shape, filled and laid on a background; the images of an instance show the same shape, and their conditions say what else they share',
  textures2d:
    'a texture that fills a shape; the images of an instance show crops of the same texture, and their conditions say whether also the same shape',
  shapes3d:
    'a 3D object, rendered; the images of an instance show the same object in other orientations, materials and surroundings',
  materials3d:
    'a PBR material on a 3D object, rendered; the images of an instance show the same material on other objects in other surroundings',
  silhouettes:
    'an object of a segmentation dataset in full colour, as silhouette, as edges and in grey, with the name of its class',
};

const SHAPES: Readonly<Record<ShapeSource, string>> = {
  natural: '*natural*: a region of a photograph where a colour channel is above or below a threshold',
  semantic:
    '*semantic*: the outline of an object that people annotated in a picture; its class is `annotated.label` in the label of the bank item that `instance.id` (in `textures2d`, `scene.shape.id`) names',
  projection: '*projection*: the outline of a mesh, seen from a random side',
};
const BANKS: Readonly<Record<ShapeSource, BankKind>> = {
  natural: 'shapes',
  semantic: 'semantic-shapes',
  projection: 'projected-shapes',
};

/** A list of what the run holds, one line a subset. */
export function introduction(contents: RunContents, configuration: Configuration): string {
  const subsets = subsetsIn(contents);
  const lines = subsets.map(subset => `- **${subset}**: ${WHAT[subset]}.`);
  const shapes = shapeSources(contents, configuration);
  if (shapes.length > 0) lines.push('', `2D shapes are ${shapes.map(source => SHAPES[source]).join('; ')}.`);
  return lines.join('\n');
}

/** Where the shapes of 2D images come from: as conditions say, and where they do not, whatever banks the run has. */
export function shapeSources(contents: RunContents, { shapes2d, textures2d }: Configuration): ShapeSource[] {
  const subsets = subsetsIn(contents);
  const named = new Set<ShapeSource | undefined>([
    ...(subsets.includes('shapes2d') ? shapes2d.conditions.map(shapeConditionOf) : []).map(({ source }) => source),
    ...(subsets.includes('textures2d') ? textures2d.conditions.map(textureConditionOf) : []).map(
      ({ source }) => source,
    ),
  ]);
  const sources = Object.keys(BANKS) as ShapeSource[];
  return sources.filter(
    source => named.has(source) || (named.has(undefined) && contents.shards.some(({ bank }) => bank === BANKS[source])),
  );
}

/** The conditions of a 2D subset by name. */
export function conditionNames(subset: 'shapes2d' | 'textures2d', configuration: Configuration): string {
  const names =
    subset === 'shapes2d'
      ? configuration.shapes2d.conditions.map(condition => shapeConditionName(shapeConditionOf(condition)))
      : configuration.textures2d.conditions.map(condition => textureConditionName(textureConditionOf(condition)));
  return names.join(', ');
}
