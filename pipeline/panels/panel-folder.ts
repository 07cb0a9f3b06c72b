import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '../faults.ts';
import { type PanelTest, panelTestSchema } from '../labels.ts';
import { differingValues } from '../run-folder.ts';
import { sha256OfFile } from '../sha256.ts';
import { jsonFrom, writeDurably } from '../shard-writer.ts';
import { UsageError } from '../usage-error.ts';
import { panelFileNames, showsSubstitutes } from './panel-task.ts';

/** What decides the tests of a condition. */
export interface PanelRecord {
  readonly condition: string;
  /** As many as there are to be. */
  readonly tests: number;
  /** As many as there were before some were added, each time. */
  readonly earlier: readonly number[];
  /** Sides of a panel and of the gap between two, pixels. */
  readonly layout: { readonly panel: number; readonly gap: number };
  readonly seed: number;
  /** Digests of what the tests are made of. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly platform: Readonly<Record<string, string>>;
}

const SETTINGS = 'settings.json';
const LIST = 'panels.jsonl';
/** Labels of tests until the list of all is written. */
const LABELS = 'labels';

/**
 * The tests of one condition on disk: pictures, and a list of their labels, written last. A test is there when its label and
 * then its picture have their names.
 */
export class PanelFolder {
  readonly path: string;
  readonly #labels = new Map<number, PanelTest>();
  #isListed = false;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * The numbers of tests that were asked for before, as far as they were fewer each time than the next one: what is added has
   * answers of its own order.
   * @throws UsageError when what lies there are no settings of tests.
   */
  async earlier(): Promise<number[]> {
    const before = await this.#settings();
    return before ? [...(before.earlier ?? []), before.tests] : [];
  }

  /**
   * Looks whether the tests may be made here, and writes nothing.
   * @throws UsageError when the folder holds other tests, naming how they differ, or more.
   */
  async agree(record: PanelRecord): Promise<void> {
    const before = await this.#settings();
    if (!before) return;
    const { tests, earlier: _, ...same } = before;
    const { tests: asked, earlier: __, ...now } = record;
    const what = differingValues(same, now);
    if (what.length > 0) {
      throw new UsageError(
        `${this.path} holds tests that differ in ${what.slice(0, 4).join('; ')}. Delete that folder, or give the same settings`,
      );
    }
    if (tests > asked) {
      throw new UsageError(
        `${this.path} is a folder of ${tests} tests, ${asked} were asked for: tests are added, and not taken away. Give ${tests} or more, or delete that folder`,
      );
    }
  }

  /**
   * Begins, continues, or adds to the tests that are there.
   * @throws UsageError as `agree` does.
   */
  async begin(record: PanelRecord): Promise<void> {
    await this.agree(record);
    const before = await this.#settings();
    if (before) await this.#readLabels(record.condition);
    if (before?.tests === record.tests) return;
    // Which instances take the place of others depends on how many tests there are.
    for (const [number, label] of this.#labels) {
      if (!showsSubstitutes(label)) continue;
      await rm(join(this.path, label.image), { force: true });
      this.#labels.delete(number);
    }
    await writeDurably(join(this.path, SETTINGS), JSON.stringify(record, null, 2));
  }

  /** @returns undefined where no tests were begun. */
  async #settings(): Promise<PanelRecord | undefined> {
    const text = await readFile(join(this.path, SETTINGS), 'utf8').catch(unlessMissing);
    if (text === undefined) return undefined;
    const settings = jsonFrom(text) as PanelRecord | null | undefined;
    if (typeof settings?.tests !== 'number') {
      throw new UsageError(`${join(this.path, SETTINGS)}: expected the settings of tests. Delete that folder`);
    }
    return settings;
  }

  /** Whether a test was made before. */
  has(number: number): boolean {
    return this.#labels.has(number);
  }

  /** Whether the list holds all tests that are there, and nothing else. */
  get isListed(): boolean {
    return this.#isListed;
  }

  /** Keeps a test, the label first. */
  async put(number: number, image: Uint8Array, label: Uint8Array): Promise<void> {
    const names = panelFileNames(number);
    await writeDurably(join(this.path, LABELS, names.label), label);
    await writeDurably(join(this.path, names.image), image);
    this.#labels.set(number, labelFrom(Buffer.from(label).toString('utf8'))!);
  }

  /** Writes the list of all tests, in their order. @returns how many there are. */
  async finish(): Promise<number> {
    await writeDurably(join(this.path, LIST), this.#list());
    await rm(join(this.path, LABELS), { recursive: true, force: true });
    return this.#labels.size;
  }

  #list(): string {
    const labels = [...this.#labels].sort(([a], [b]) => a - b);
    return labels.map(([, label]) => `${JSON.stringify(label)}\n`).join('');
  }

  /** The labels whose pictures are there: of the list, and of tests that a process made before it was killed. */
  async #readLabels(condition: string): Promise<void> {
    const list = await readFile(join(this.path, LIST), 'utf8').catch(unlessMissing);
    const names = await readdir(join(this.path, LABELS)).catch(unlessMissing);
    const texts = list?.split('\n') ?? [];
    for (const name of names ?? []) {
      if (name.endsWith('.json')) texts.push(await readFile(join(this.path, LABELS, name), 'utf8'));
    }
    for (const text of texts) {
      const label = labelFrom(text);
      if (label?.condition !== condition) continue;
      // A picture that somebody was at is made again.
      const sha256 = await sha256OfFile(join(this.path, label.image)).catch(unlessMissing);
      if (sha256 === label.sha256) this.#labels.set(Number.parseInt(label.image, 10), label);
    }
    this.#isListed = names === undefined && list === this.#list();
  }
}

function labelFrom(text: string): PanelTest | undefined {
  return panelTestSchema.safeParse(jsonFrom(text)).data;
}
