import { realpath, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Bank, openBank } from './bank.ts';
import { BANK_KINDS, type BankKind } from './bank-kinds.ts';
import { parseBankSource } from './bank-stage.ts';
import type { Configuration } from './configuration.ts';
import type { Listing } from './datasets/dataset.ts';
import { resolveDatasets } from './datasets/datasets.ts';
import { buildPhotoIndex, digestSources, PhotoIndex } from './photo-index.ts';
import {
  ENVIRONMENT_FILES,
  MATERIAL_FILES,
  MESH_FILES,
  onlyLicences,
  PHOTO_FILES,
  resolveSources,
  type Source,
  type SourceKind,
  TEXTURE_FILES,
  without,
} from './photo-sources.ts';
import type { Progress } from './progress.ts';
import type { RunFolder } from './run-folder.ts';
import type { IndexName } from './stage.ts';
import type { StageName } from './stage-names.ts';
import { UsageError } from './usage-error.ts';

/** Lists of pictures whose masks a dataset's reader finds. */
const SEGMENTED = { expects: 'pictures with masks' } as const;
type Segmented = typeof SEGMENTED;

/** What kind of files each list holds. */
const INDEXED_FILES: Readonly<Record<IndexName, SourceKind | Segmented>> = {
  photos: PHOTO_FILES,
  'shape-files': PHOTO_FILES,
  'texture-files': TEXTURE_FILES,
  'material-files': MATERIAL_FILES,
  'mesh-files': MESH_FILES,
  'environment-files': ENVIRONMENT_FILES,
  'segmentation-images': SEGMENTED,
  'semantic-images': SEGMENTED,
};

/** Lists of what is made into banks as it is: folders whose licences nobody knows, and packs, which tell theirs. */
const MADE_ELSEWHERE: ReadonlySet<IndexName> = new Set<IndexName>(['shape-files', 'texture-files', 'material-files']);

/** The outside files of a run: their lists, and the banks of other runs. */
export class Inputs {
  readonly #configuration: Configuration;
  readonly #folder: RunFolder;
  readonly #scratch: string;
  readonly #progress: Progress;
  readonly #signal: AbortSignal | undefined;
  readonly #indexes = new Map<IndexName, Promise<PhotoIndex>>();

  /** @param scratch where lists are made that the run folder does not hold: the run folder itself, but for a mere plan. */
  constructor(
    configuration: Configuration,
    folder: RunFolder,
    scratch: string,
    progress: Progress,
    signal?: AbortSignal,
  ) {
    this.#configuration = configuration;
    this.#folder = folder;
    this.#scratch = scratch;
    this.#progress = progress;
    this.#signal = signal;
  }

  /** A list, made when it is not there yet. */
  index(name: IndexName): Promise<PhotoIndex> {
    let index = this.#indexes.get(name);
    if (!index) {
      index = this.#openOrBuild(name);
      this.#indexes.set(name, index);
    }
    return index;
  }

  /** A bank of another run, when that is what the option names. */
  async foreignBank(kind: BankKind): Promise<Bank | undefined> {
    const folder = (await foreignBankFolders(this.#configuration, kind)).get(kind);
    return folder === undefined ? undefined : openBank(folder);
  }

  /** Makes all lists that the stages read, and tells the digests of all inputs. */
  async prepare(stages: readonly StageName[]): Promise<Record<string, string>> {
    // All names are looked up before anything is written.
    const found = new Map<IndexName, Source[]>();
    for (const name of indexesOf(stages)) found.set(name, await this.#sources(name));
    // A list that lies there already may be of other photos: of a command that was refused or killed before its run began.
    for (const [name, sources] of found) {
      const index = this.#build(name, sources);
      this.#indexes.set(name, index);
      await index;
    }
    return this.#digests(stages, async name => (await this.index(name)).facts.digest);
  }

  /** The digests of all inputs as they are now, whatever the lists say. */
  async digests(stages: readonly StageName[]): Promise<Record<string, string>> {
    return this.#digests(stages, async name => digestSources(await this.#sources(name)));
  }

  /** Looks whether what options name is there, for a list that is not needed. @throws UsageError */
  async check(name: IndexName): Promise<void> {
    await this.#sources(name);
  }

  async #digests(stages: readonly StageName[], digest: (name: IndexName) => Promise<string>) {
    const digests: Record<string, string> = {};
    for (const name of indexesOf(stages)) digests[name] = await digest(name);
    for (const kind of BANK_KINDS) {
      const bank = await this.foreignBank(kind);
      if (bank) digests[`${kind} bank`] = bank.digest;
    }
    return digests;
  }

  async #sources(name: IndexName, licences = this.#configuration.licences): Promise<Source[]> {
    const { photos, meshes, environments, shapeBank, textureBank, materialBank } = this.#configuration;
    const { segmentation, semantic } = this.#configuration;
    const folder = (bank: string | null) => [parseBankSource(bank!).path];
    const named: Record<IndexName, () => readonly string[]> = {
      photos: () => photos,
      'shape-files': () => folder(shapeBank),
      'texture-files': () => folder(textureBank),
      'material-files': () => folder(materialBank),
      'mesh-files': () => meshes,
      'environment-files': () => environments,
      'segmentation-images': () => segmentation,
      'semantic-images': () => semantic,
    };
    const kind = INDEXED_FILES[name];
    const ofAll = MADE_ELSEWHERE.has(name) ? null : licences;
    const found =
      'files' in kind
        ? await resolveSources(named[name](), ofAll, kind)
        : await resolveDatasets(named[name](), ofAll, this.#listing());
    const sources =
      ofAll === licences
        ? found
        : found.map(source => (source.isPack && licences ? onlyLicences(source, licences) : source));
    const run = await realpath(this.#folder.path).catch(() => this.#folder.path);
    return sources.map(source => interruptible(without(source, run), this.#signal));
  }

  #listing(): Listing {
    let bytes = 0;
    const onRead = (more: number) => {
      bytes += more;
      this.#progress.count('MB of annotations read', Math.round(bytes / 1e6));
    };
    return { onRead, ...(this.#signal && { signal: this.#signal }) };
  }

  async #openOrBuild(name: IndexName): Promise<PhotoIndex> {
    return (await PhotoIndex.open(this.#folder.at(name))) ?? this.#build(name, await this.#sources(name));
  }

  async #build(name: IndexName, sources: readonly Source[]): Promise<PhotoIndex> {
    const { seed, licences } = this.#configuration;
    const folder = join(this.#scratch, name);
    const counted = (files: number) => this.#progress.count('files indexed', files);
    const index = await buildPhotoIndex(folder, sources, seed, counted, this.#signal);
    if (index.facts.files > 0) return index;
    await rm(folder, { recursive: true, force: true });
    const under = licences ? ` under ${licences.join(' or ')}: ${await this.#foundLicences(name)}` : '';
    throw new UsageError(`${name}: expected ${INDEXED_FILES[name].expects}, found none${under}`);
  }

  /** What licences there are, for whoever asked for others. */
  async #foundLicences(name: IndexName): Promise<string> {
    const licences = new Set<string | null>();
    let looked = 0;
    for (const source of await this.#sources(name, null)) {
      for await (const { licence } of source.files()) {
        licences.add(licence);
        if (++looked >= MOST_LOOKS) break;
      }
    }
    const known = [...licences].filter(licence => licence !== null).sort();
    if (looked === 0) return 'there are no such files at all';
    if (known.length > 0) return `what is there is under ${known.join(', ')}`;
    return 'no licence is known of what is there (asset packs say theirs, and COCO files; folders and lists do not)';
  }
}

/** Files that are looked at to tell what licences there are. */
const MOST_LOOKS = 10_000;

/** A source that ends with the signal: millions of files take minutes to list. */
function interruptible(source: Source, signal: AbortSignal | undefined): Source {
  if (!signal) return source;
  return {
    ...source,
    async *files() {
      for await (const file of source.files()) {
        signal.throwIfAborted();
        yield file;
      }
    },
  };
}

/** The lists that stages read. */
function indexesOf(stages: readonly StageName[]): IndexName[] {
  const lists: Partial<Record<StageName, IndexName>> = {
    'extract-shapes': 'photos',
    'extract-textures': 'photos',
    'import-shapes': 'shape-files',
    'import-textures': 'texture-files',
    'import-materials': 'material-files',
    'prepare-meshes': 'mesh-files',
    'prepare-environments': 'environment-files',
    'outline-shapes': 'semantic-images',
    silhouettes: 'segmentation-images',
  };
  return [...new Set(stages.flatMap(stage => lists[stage] ?? []))];
}

/**
 * The finished banks that a kind's option names: those of another run, or the one bank whose folder it names, which is used
 * as the option's first kind; none for other folders, and where the option is not given. Of shapes a run gives all sources,
 * but for those that are made anew.
 * @throws UsageError for a run without any of them.
 */
export async function foreignBankFolders(configuration: Configuration, kind: BankKind): Promise<Map<BankKind, string>> {
  const { shapeBank, textureBank, materialBank, semantic, projections } = configuration;
  const options: readonly (readonly [value: string | null, kinds: readonly BankKind[]])[] = [
    [
      shapeBank,
      [
        'shapes',
        ...(semantic.length > 0 ? [] : (['semantic-shapes'] as const)),
        ...(projections > 0 ? [] : (['projected-shapes'] as const)),
      ],
    ],
    [textureBank, ['textures']],
    [materialBank, ['materials']],
  ];
  const [value, kinds] = options.find(option => option[1].includes(kind)) ?? [null, []];
  const found = new Map<BankKind, string>();
  if (value === null) return found;
  const { path } = parseBankSource(value);
  const isThere = async (file: string) => (await stat(file).catch(() => undefined)) !== undefined;
  if (await isThere(join(path, 'index.bin'))) return found.set(kinds[0]!, resolve(path));
  for (const kind of kinds) {
    const folder = join(path, 'banks', kind);
    if (await isThere(join(folder, 'index.bin'))) found.set(kind, resolve(folder));
  }
  if (found.size === 0 && (await isThere(join(path, 'run.json')))) {
    throw new UsageError(`${path} is a run whose bank is not finished: continue it first`);
  }
  return found;
}
