import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { jsonFrom } from '../shard-writer.ts';
import { UsageError } from '../usage-error.ts';
import { readCutOut } from './binary-mask.ts';
import { datasetReader, type Taxonomy } from './dataset.ts';
import { familyFounder } from './evolution-families.ts';
import { findDataset, isFile, isFolder } from './layout.ts';

interface Entry {
  readonly label: string;
  readonly taxonomy: Taxonomy;
}

const PACKAGE = 'pokesprite-images';
const DEX = 'data/pokemon.json';
const FOLDER = 'pokemon-gen8/regular';
const form = {
  name: 'sprites',
  title: `the npm package ${PACKAGE}`,
  expects: `a folder with ${DEX} and ${FOLDER}/*.png`,
} as const;

/** What the package's readme says of the images; its licence (MIT) is of everything else, and none is stated for them. */
const RIGHTS = {
  author: 'Nintendo/Creatures Inc./GAME FREAK Inc.',
  licence: 'LicenseRef-all-rights-reserved',
  url: 'https://github.com/msikma/pokesprite',
} as const;

/** Of the package's list only what is used. */
const dexSchema = z.record(
  z.string().regex(/^\d+$/),
  z.object({
    name: z.object({ eng: z.string().min(1) }),
    slug: z.object({ eng: z.string().regex(/^[a-z0-9-]+$/) }),
    'gen-8': z.object({
      forms: z.record(z.string().regex(/^(\$|[a-z0-9-]+)$/), z.object({ is_alias_of: z.string().optional() })),
    }),
  }),
);

/** Form of a species that has no name of its own in the list. */
const BASE_FORM = '$';

/** The last national dex number of each generation. */
const GENERATIONS = [151, 251, 386, 493, 649, 721, 809, 905];

/**
 * PokéSprite: the regular sprites of generation 8, a species' every form that has a picture of its own. Shiny ones are the same
 * shapes in other colours, and those of females the same form again: both are left out. The sprites of an evolutionary
 * family are in one split.
 */
export const sprites = datasetReader<Entry>({
  ...form,
  masks: 'objects',
  cutOuts: true,

  async open(folder) {
    const fits = async (at: string) => (await isFile(join(at, DEX))) && isFolder(join(at, FOLDER));
    const root = await findDataset(form, folder ?? installedPackage(), ['', `node_modules/${PACKAGE}`], fits);
    return {
      pack: PACKAGE,
      root,
      async *images() {
        const dex = await readDex(join(root, DEX));
        const names = new Map(Object.entries(dex).map(([number, { name }]) => [Number(number), name.eng]));
        for (const [key, { name, slug, 'gen-8': generation8 }] of Object.entries(dex)) {
          const number = Number(key);
          const founder = familyFounder(number);
          const family = founder === null ? null : (names.get(founder) ?? null);
          for (const [form, { is_alias_of }] of Object.entries(generation8.forms)) {
            if (is_alias_of !== undefined) continue;
            const named = form === BASE_FORM ? null : form.replaceAll('-', ' ');
            const file = `${FOLDER}/${slug.eng}${named === null ? '' : `-${form}`}.png`;
            yield {
              path: join(root, file),
              file,
              group: founder === null ? `species ${number}` : `family ${founder}`,
              part: null,
              ...RIGHTS,
              entry: {
                label: named === null ? name.eng : `${name.eng} ${named}`,
                taxonomy: {
                  generation: generationOf(number),
                  form: named,
                  species: name.eng,
                  speciesId: number,
                  family,
                },
              },
            };
          }
        }
      },
    };
  },

  async read({ path, file, entry }) {
    const object = await readCutOut(path);
    const category = file.slice(FOLDER.length + 1, -'.png'.length);
    return object ? [{ ...object, ...entry, category, instance: null }] : [];
  },
});

/** Folder of the package beside this one. @throws UsageError when it is not installed. */
export function installedPackage(resolve: (name: string) => string = createRequire(import.meta.url).resolve): string {
  try {
    return dirname(resolve(`${PACKAGE}/package.json`));
  } catch {
    throw new UsageError(
      `sprites: expected ${form.title}, found none: npm install ${PACKAGE}, or name its folder (sprites:DIR)`,
    );
  }
}

async function readDex(path: string): Promise<z.infer<typeof dexSchema>> {
  const { data, error } = dexSchema.safeParse(jsonFrom(await readFile(path, 'utf8')));
  if (data) return data;
  const { path: field, message } = error.issues[0]!;
  throw new UsageError(`${path}: expected the list of ${form.title}, found another: ${field.join('.')}: ${message}`);
}

/** null: a species of a later generation. */
function generationOf(dex: number): number | null {
  const index = GENERATIONS.findIndex(last => dex <= last);
  return index < 0 ? null : index + 1;
}
