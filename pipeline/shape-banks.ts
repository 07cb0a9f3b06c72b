import type { ShapeSource } from '../scenes/conditions.ts';
import { shapeConditionOf, textureConditionOf } from '../scenes/recipe.ts';
import { openBank, sourcesIn } from './bank.ts';
import type { BankKind } from './bank-kinds.ts';
import { parseBankSource } from './bank-stage.ts';
import type { Configuration } from './configuration.ts';
import { foreignBankFolders } from './inputs.ts';
import type { StageName } from './stage-names.ts';
import { UsageError } from './usage-error.ts';

/** A bank of shapes that a run has, or would make. */
export interface ShapeGiver {
  readonly kind: BankKind;
  /** The stage that makes it; null: it is another run's. */
  readonly stage: StageName | null;
  readonly sources: readonly ShapeSource[];
  /** Whether 2D images may show its shapes; else it is left out. */
  readonly drawn: boolean;
}

const SHAPE_BANKS: ReadonlySet<BankKind> = new Set<BankKind>(['shapes', 'semantic-shapes', 'projected-shapes']);

/**
 * The banks that the shapes of 2D images come from, in the order they are joined.
 * @throws UsageError when conditions name shapes that none of them gives.
 */
export async function shapeGivers(configuration: Configuration): Promise<ShapeGiver[]> {
  const named = namedSources(configuration);
  const givers = await given(configuration);
  const sources = givers.flatMap(giver => giver.sources);
  for (const { subset, source, images } of named) {
    if (source === undefined || images === 0 || sources.includes(source)) continue;
    throw new UsageError(`${subset}.conditions name ${source} shapes, and nothing gives any: ${HINTS[source]}`);
  }
  return givers.map(giver => ({
    ...giver,
    drawn: named.some(({ source }) => source === undefined || giver.sources.includes(source)),
  }));
}

const HINTS: Readonly<Record<ShapeSource, string>> = {
  natural: 'leave out --shape-bank, or give --shape-bank natural:DIR',
  semantic: 'give --semantic name:DIR, or --shape-bank semantic:DIR',
  projection: 'give --projections N, or --shape-bank projection:DIR',
};

/** What the conditions of the 2D subsets that are made say of the shapes' source (undefined: any), each with its images. */
function namedSources({ subsets, shapes2d, shapes2dImages, textures2d, textures2dImages }: Configuration) {
  const named = [
    { subset: 'shapes2d', images: shapes2dImages, conditions: shapes2d.conditions.map(shapeConditionOf) },
    { subset: 'textures2d', images: textures2dImages, conditions: textures2d.conditions.map(textureConditionOf) },
  ] as const;
  return named
    .filter(({ subset }) => subsets.includes(subset))
    .flatMap(({ subset, images, conditions }) => conditions.map(({ source }) => ({ subset, images, source })));
}

/** Every bank of shapes that the configuration gives. */
async function given(configuration: Configuration): Promise<Omit<ShapeGiver, 'drawn'>[]> {
  const { shapeBank, semantic, projections } = configuration;
  const foreign = await foreignBankFolders(configuration, 'shapes');
  const givers: Omit<ShapeGiver, 'drawn'>[] = [];
  if (shapeBank === null) givers.push({ kind: 'shapes', stage: 'extract-shapes', sources: ['natural'] });
  else if (foreign.size === 0) {
    givers.push({ kind: 'shapes', stage: 'import-shapes', sources: [parseBankSource(shapeBank).kind] });
  }
  for (const [kind, folder] of foreign) {
    const bank = await openBank(folder);
    if (!bank) continue;
    if (!SHAPE_BANKS.has(bank.kind)) {
      throw new UsageError(`--shape-bank: expected a bank of shapes, got one of ${bank.kind}: ${folder}`);
    }
    givers.push({ kind, stage: null, sources: sourcesIn(bank) });
  }
  if (semantic.length > 0) givers.push({ kind: 'semantic-shapes', stage: 'outline-shapes', sources: ['semantic'] });
  if (projections > 0) givers.push({ kind: 'projected-shapes', stage: 'project-shapes', sources: ['projection'] });
  return givers;
}
