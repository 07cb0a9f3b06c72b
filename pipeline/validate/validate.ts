import sharp from 'sharp';
import { type Bank, openBank } from '../bank.ts';
import { BANK_KINDS, type BankKind } from '../bank-kinds.ts';
import type { Configuration } from '../configuration.ts';
import { DamagedFile } from '../faults.ts';
import { foreignBankFolders } from '../inputs.ts';
import { LABEL_SCHEMAS } from '../labels.ts';
import type { Progress } from '../progress.ts';
import { recordedRun } from '../recorded-configuration.ts';
import { RunFolder } from '../run-folder.ts';
import { jsonFrom } from '../shard-writer.ts';
import { UsageError } from '../usage-error.ts';
import { ahead } from './ahead.ts';
import { balance } from './balance.ts';
import { bankIndex } from './bank-index.ts';
import { blank } from './blank.ts';
import { card } from './card.ts';
import type { Check, LabelForm, Place, Sample, ScannedTar, Shard, ValidatedRun, ValidLabel, Visitor } from './check.ts';
import { decodePicture, isPicture } from './decode-picture.ts';
import { duplicates } from './duplicates.ts';
import { fields } from './fields.ts';
import { filesOf, findShards, folderOf } from './find-shards.ts';
import { type FindingGroup, Findings } from './findings.ts';
import { geometry } from './geometry.ts';
import { instances } from './instances.ts';
import { keys } from './keys.ts';
import { labels } from './labels.ts';
import { masks } from './masks.ts';
import { panels } from './panels.ts';
import { pictures } from './pictures.ts';
import { TarScan } from './scan-tar.ts';
import { scenes } from './scenes.ts';
import { schemaFault } from './schema-fault.ts';
import { shards } from './shards.ts';
import { splits } from './splits.ts';

/** Every check, in the order of the report. */
export const CHECKS: readonly Check[] = [
  shards,
  keys,
  fields,
  labels,
  pictures,
  masks,
  geometry,
  blank,
  bankIndex,
  scenes,
  instances,
  splits,
  duplicates,
  balance,
  panels,
  card,
];

/** What was looked at, and what is wrong with it. */
export interface Validation {
  readonly shards: number;
  /** Samples and bank items. */
  readonly samples: number;
  readonly bytes: number;
  readonly errors: number;
  readonly warnings: number;
  readonly findings: readonly FindingGroup[];
}

/**
 * Looks at everything that a run holds, as one who did not make it: each shard is read once, from end to end. Changes nothing.
 * @param kept findings of a kind that are kept.
 * @throws UsageError when there is no run.
 */
export async function validate(
  path: string,
  kept: number,
  progress: Progress,
  signal: AbortSignal,
): Promise<Validation> {
  const folder = new RunFolder(path);
  const { record, configuration } = await recordedRun(folder, message => progress.warn(message));
  const run: ValidatedRun = { folder, record, configuration, ...(await openBanks(folder, configuration)), signal };
  // libvips is one per process; nothing is decoded twice.
  sharp.concurrency(1);
  sharp.cache(false);

  const findings = new Findings(kept);
  const visitors: Visitor[] = [];
  for (const check of CHECKS) visitors.push(await check.begin(run, findings.of(check.name)));
  let [samples, bytes] = [0, 0];
  const found = await findShards(folder);
  for (const stage of inFolders(found)) {
    progress.begin(stage);
    for (const shard of stage.shards) {
      const scan = await visitShard(run, shard, visitors, progress, signal);
      samples += scan.samples;
      bytes += scan.bytes;
    }
    progress.end();
  }
  for (const visitor of visitors) {
    signal.throwIfAborted();
    await visitor.end?.(progress);
  }
  const groups = findings.groups(CHECKS.map(({ name }) => name));
  const count = (severity: string) =>
    groups.filter(group => group.severity === severity).reduce((sum, group) => sum + group.count, 0);
  return { shards: found.length, samples, bytes, errors: count('error'), warnings: count('warning'), findings: groups };
}

/** The finished banks that a run's scenes show. One whose index is damaged is left out: it is told elsewhere. */
async function openBanks(folder: RunFolder, configuration: Configuration) {
  const banks = new Map<BankKind, Bank>();
  const [own, unfinished] = [new Set<BankKind>(), new Set<BankKind>()];
  const unlessDamaged = (error: unknown) => {
    if (!(error instanceof DamagedFile || error instanceof UsageError)) throw error;
    return undefined;
  };
  for (const kind of BANK_KINDS) {
    const foreign = await foreignBankFolders(configuration, kind).catch(unlessDamaged);
    const path = foreign?.get(kind);
    const bank = await openBank(path ?? folder.bank(kind)).catch(unlessDamaged);
    if (bank) banks.set(kind, bank);
    if (bank && path === undefined) own.add(kind);
    if (!bank && (await filesOf(folder, { bank: kind })).length > 0) unfinished.add(kind);
  }
  return { banks, own, unfinished };
}

/** Shards of a bank, or of a subset's split, with what the progress says of them. */
function inFolders(found: readonly Shard[]) {
  const stages = new Map<string, Shard[]>();
  for (const shard of found) stages.set(folderOf(shard.place), [...(stages.get(folderOf(shard.place)) ?? []), shard]);
  return [...stages].map(([name, shards]) => ({
    name,
    title: name,
    unit: 'bank' in shards[0]!.place ? 'items' : 'images',
    total: shards.reduce((sum, { sidecar }) => sum + (sidecar?.samples ?? 0), 0),
    shards,
  }));
}

/** Shows all samples of a shard to all visitors, in order; their pictures are decoded ahead, on libvips' threads. */
async function visitShard(
  run: ValidatedRun,
  shard: Shard,
  visitors: readonly Visitor[],
  progress: Progress,
  signal: AbortSignal,
): Promise<ScannedTar> {
  const scan = new TarScan(run.folder.at(shard.path));
  let samples = 0;
  for await (const sample of ahead(samplesOf(scan), files => decoded(files, shard.place))) {
    signal.throwIfAborted();
    for (const visitor of visitors) visitor.sample?.(sample, shard);
    samples++;
    progress.advance(1, []);
  }
  const scanned = { ...scan.result, samples };
  for (const visitor of visitors) visitor.shard?.(shard, scanned);
  return scanned;
}

/** Files of one key that lie next to each other. */
type SampleFiles = Pick<Sample, 'key' | 'files' | 'members'> & { files: Map<string, Buffer>; members: string[] };

/** Groups members as WebDataset does: a name is cut at its first dot. */
async function* samplesOf(scan: TarScan): AsyncGenerator<SampleFiles> {
  let sample: SampleFiles | undefined;
  for await (const { name, data } of scan.members()) {
    const [, key = name, field = ''] = /^((?:.*\/|)[^.]+)[.]([^/]*)$/.exec(name) ?? [];
    if (sample?.key !== key) {
      if (sample) yield sample;
      sample = { key, files: new Map(), members: [] };
    }
    sample.members.push(name);
    if (!sample.files.has(field)) sample.files.set(field, data);
  }
  if (sample) yield sample;
}

async function decoded({ key, files, members }: SampleFiles, place: Place): Promise<Sample> {
  const pictures = [...files].filter(([field]) => isPicture(field));
  const decoding = pictures.map(
    async ([field, bytes]) => [field, await decodePicture(bytes, field === 'hq.jpg')] as const,
  );
  const { label, labelFault } = readLabel(files.get('json'), formOf(place));
  return { key, files, members, label, labelFault, pictures: new Map(await Promise.all(decoding)) };
}

function readLabel(bytes: Buffer | undefined, form: LabelForm): Pick<Sample, 'label' | 'labelFault'> {
  if (!bytes) return { label: undefined, labelFault: 'there is none' };
  const value = jsonFrom(bytes.toString('utf8'));
  if (value === undefined) return { label: undefined, labelFault: 'it is no JSON' };
  const parsed = LABEL_SCHEMAS[form].safeParse(value);
  if (!parsed.success) return { label: undefined, labelFault: schemaFault(parsed.error) };
  return { label: { form, value: parsed.data } as ValidLabel, labelFault: undefined };
}

const BANK_LABELS: Readonly<Record<BankKind, LabelForm>> = {
  shapes: 'shape-bank-item',
  'semantic-shapes': 'shape-bank-item',
  'projected-shapes': 'shape-bank-item',
  textures: 'texture-bank-item',
  materials: 'material-bank-item',
  meshes: 'mesh-bank-item',
  environments: 'environment-bank-item',
};

function formOf(place: Place): LabelForm {
  return 'bank' in place ? BANK_LABELS[place.bank] : `${place.subset}-sample`;
}
