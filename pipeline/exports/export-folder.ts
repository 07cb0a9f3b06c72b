import { createReadStream } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { unlessMissing } from '../faults.ts';
import { isAlive } from '../process-alive.ts';
import { differingValues, RunFolder } from '../run-folder.ts';
import { jsonFrom, writeDurably } from '../shard-writer.ts';
import { TextFile } from '../text-file.ts';
import { UsageError } from '../usage-error.ts';
import type { ExportPart } from './exporter.ts';
import { PartWriter, type Row } from './part-writer.ts';

/** What an export is made of: two exports with equal records are equal. */
export interface ExportRecord {
  readonly shapemill: string;
  readonly format: string;
  /** Of each part: sha256 of what it is made from. */
  readonly parts: Readonly<Record<string, string>>;
}

/** Lies in a complete export. */
const RECORD = 'export.json';
/** Lies in an export that is being made, and goes when it is complete. */
const WORK = '.export';

const lockSchema = z.object({ host: z.string(), pid: z.int() });

/**
 * The folder of an export. While it is made, `.export/` holds what it is made of and the rows of each part that is written; at the end
 * the rows become lists, `export.json` says what was exported, and `.export/` goes.
 */
export class ExportFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = resolve(path);
  }

  /**
   * Begins an export, or agrees to continue one.
   * @returns `complete`: nothing is left to do.
   * @throws UsageError when the folder holds another export, or other things.
   */
  async begin(record: ExportRecord): Promise<'new' | 'continued' | 'complete'> {
    for (const [file, state] of [
      [RECORD, 'complete'],
      [join(WORK, RECORD), 'continued'],
    ] as const) {
      const text = await readFile(join(this.path, file), 'utf8').catch(unlessMissing);
      if (text === undefined) continue;
      const what = differingValues(jsonFrom(text), record);
      if (what.length === 0) {
        // Killed between the last two steps, an export has both.
        if (state === 'complete') await rm(join(this.path, WORK), { recursive: true, force: true });
        return state;
      }
      throw new UsageError(
        `${this.path} holds an export that differs in ${what.slice(0, 3).join('; ')}. Delete that folder, or give another --out`,
      );
    }
    const stranger = (await this.#entries()).find(name => name !== WORK);
    if (stranger !== undefined) {
      throw new UsageError(`${this.path} holds "${stranger}" and no export: give another --out, or an empty folder`);
    }
    await new RunFolder(this.path).refuseUnwritable();
    await writeDurably(join(this.path, WORK, RECORD), JSON.stringify(record));
    return 'new';
  }

  /**
   * Says that this process works on the folder.
   * @returns a function that takes the word back.
   * @throws UsageError while another process does.
   */
  async lock(): Promise<() => Promise<void>> {
    const locks = join(this.path, WORK, 'locks');
    const own = `${hostname()}-${process.pid}.json`;
    const release = () => rm(join(locks, own), { force: true });
    // Said first, looked around after: of two that start at once at least one sees the other.
    await writeDurably(join(locks, own), JSON.stringify({ host: hostname(), pid: process.pid }));
    for (const name of await readdir(locks)) {
      const text = name === own ? undefined : await readFile(join(locks, name), 'utf8').catch(unlessMissing);
      const other = lockSchema.safeParse(jsonFrom(text ?? '')).data;
      if (!other || (other.host === hostname() && !isAlive(other.pid))) continue;
      await release();
      throw new UsageError(
        `process ${other.pid} on ${other.host} is working on ${this.path}: wait for it; if that is no shapemill any more, delete ${join(locks, name)}`,
      );
    }
    return release;
  }

  async isWritten(part: ExportPart): Promise<boolean> {
    return (await stat(this.#rowsOf(part)).catch(unlessMissing)) !== undefined;
  }

  writer(part: ExportPart, signal: AbortSignal): PartWriter {
    return new PartWriter(this.path, this.#rowsOf(part), signal);
  }

  /** The rows of parts that are written, in order. */
  async *rows(parts: readonly ExportPart[], signal: AbortSignal): AsyncGenerator<Row> {
    for (const part of parts) {
      signal.throwIfAborted();
      const lines = createInterface({
        input: createReadStream(this.#rowsOf(part)),
        crlfDelay: Number.POSITIVE_INFINITY,
      });
      for await (const line of lines) yield JSON.parse(line);
    }
  }

  /**
   * Writes the lists that the rows name.
   * @param header text that each list begins with.
   */
  async writeLists(
    parts: readonly ExportPart[],
    signal: AbortSignal,
    header: (list: string) => string = () => '',
  ): Promise<void> {
    const lists = new Map<string, TextFile>();
    for await (const [list, text] of this.rows(parts, signal)) {
      let file = lists.get(list);
      if (!file) {
        file = this.text(list);
        file.append(header(list));
        lists.set(list, file);
      }
      file.append(text);
    }
    for (const file of lists.values()) file.finish();
  }

  /** A text file to be appended to. */
  text(path: string): TextFile {
    return new TextFile(join(this.path, path));
  }

  /** The export is complete. */
  async finish(record: ExportRecord): Promise<void> {
    await writeDurably(join(this.path, RECORD), JSON.stringify(record, null, 2));
    await rm(join(this.path, WORK), { recursive: true, force: true });
  }

  #rowsOf({ name }: ExportPart): string {
    return join(this.path, WORK, 'parts', `${name}.jsonl`);
  }

  async #entries(): Promise<string[]> {
    return readdir(this.path).catch(error => {
      if (error.code === 'ENOTDIR') throw new UsageError(`expected a folder, found a file: ${this.path}`);
      if (error.code === 'ENOENT') return [];
      throw error;
    });
  }
}
