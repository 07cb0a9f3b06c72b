import cliProgress from 'cli-progress';
import pino from 'pino';
import type { Fault } from './faults.ts';

/** Tells the user what goes on. One for a terminal, one for everything else. */
export interface Progress {
  /** A stage begins. @param total samples it is expected to make. */
  begin(stage: { name: string; title: string; unit: string; total: number }): void;
  /** Samples of a shard that was there before: they count, but nobody made them now. */
  found(samples: number): void;
  advance(samples: number, faults: readonly Fault[]): void;
  /** The stage is over; its line stays. */
  end(): void;
  /** Something counted that is no stage: files indexed, contact sheets drawn so far. */
  count(what: string, number: number): void;
  info(message: string): void;
  warn(message: string): void;
}

/** Bars on a terminal (rate, time left, faults), JSON lines otherwise; both on standard error. */
export function makeProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  return stream.isTTY ? new TerminalProgress(stream) : new LogProgress();
}

/** The minute or so that the time left is judged by. */
const RECENT_SECONDS = 60;

/**
 * How fast samples come now. A mean over the whole stage would be wrong for long: rounds that look at photos again give less
 * a second than the first one gave. What happened fades with its age.
 */
export class Pace {
  #samples = 0;
  #seconds = 0;
  #last: number;

  /** @param now seconds, as in `add`. */
  constructor(now: number) {
    this.#last = now;
  }

  add(samples: number, now: number): void {
    const passed = now - this.#last;
    const kept = Math.exp(-passed / RECENT_SECONDS);
    this.#samples = this.#samples * kept + samples;
    this.#seconds = this.#seconds * kept + passed;
    this.#last = now;
  }

  /** Samples a second. */
  get rate(): number {
    return this.#samples / Math.max(this.#seconds, 1e-3);
  }
}

const secondsNow = () => performance.now() / 1000;

class TerminalProgress implements Progress {
  readonly #stream: NodeJS.WriteStream;
  #bar: cliProgress.SingleBar | undefined;
  #pace = new Pace(0);
  #faults = 0;
  #began = 0;
  #found = 0;
  #made = 0;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  begin({ title, unit, total }: { title: string; unit: string; total: number }): void {
    this.#faults = 0;
    this.#found = 0;
    this.#made = 0;
    this.#began = secondsNow();
    this.#pace = new Pace(this.#began);
    this.#bar = new cliProgress.SingleBar({
      stream: this.#stream,
      format: `${title.padEnd(18)} {bar} {value}/{total} ${unit} · {rate} · {left} · {faults} faults`,
      barsize: 24,
      barCompleteChar: '█',
      barIncompleteChar: '░',
      hideCursor: true,
      clearOnComplete: false,
      // Ctrl-C is the command's own affair.
      gracefulExit: false,
    });
    this.#bar.start(total, 0, this.#payload(total, 0));
  }

  found(samples: number): void {
    this.#found += samples;
    this.#update();
  }

  advance(samples: number, faults: readonly Fault[]): void {
    this.#faults += faults.length;
    this.#made += samples;
    this.#pace.add(samples, secondsNow());
    this.#update();
  }

  end(): void {
    // Of the whole stage now: what it came to.
    const rate = this.#made / Math.max(secondsNow() - this.#began, 1e-3);
    this.#bar?.update({ ...this.#payload(this.#bar.getTotal(), rate), left: 'done' });
    this.#bar?.stop();
    this.#bar = undefined;
  }

  count(what: string, number: number): void {
    this.#stream.write(`\r${number.toLocaleString('en')} ${what} \u001b[K`);
  }

  info(message: string): void {
    this.#print(message);
  }

  warn(message: string): void {
    this.#print(`warning: ${message}`);
  }

  /** A line above the bar. */
  #print(message: string): void {
    this.#stream.write(`${this.#bar ? '\r\u001b[K' : ''}${message}\n`);
    this.#bar?.render();
  }

  #update(): void {
    const total = this.#bar?.getTotal() ?? 0;
    // A bank's last shard may hold more than was asked for.
    this.#bar?.update(Math.min(this.#found + this.#made, total), this.#payload(total, this.#pace.rate));
  }

  #payload(total: number, rate: number) {
    const missing = total - this.#found - this.#made;
    const left = missing <= 0 ? 'finishing' : this.#made === 0 ? 'starting' : `${duration(missing / rate)} left`;
    return { rate: rateText(rate), left, faults: this.#faults };
  }
}

/** Faults a stage that are told one by one; all of them are in the sidecars. */
const TOLD_FAULTS = 20;

/** Seconds between two lines that say how far a stage, or a count, has come: a log of hours is to be read by people, too. */
const LINE_SECONDS = 10;

/** Structured lines: how far something has come at most every {@link LINE_SECONDS}, and nothing of what takes less. */
export class LogProgress implements Progress {
  readonly #log: pino.Logger;
  readonly #now: () => number;
  /** What was counted last, and when it was told, or begun. */
  #counted = { what: '', told: 0 };
  #stage = { name: '', total: 0, found: 0, made: 0, faults: 0, began: 0, told: 0 };
  #pace = new Pace(0);

  /** @param now seconds. */
  constructor(out: pino.DestinationStream = pino.destination({ dest: 2, sync: true }), now = secondsNow) {
    this.#log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, out);
    this.#now = now;
  }

  begin({ name, total }: { name: string; total: number }): void {
    const now = this.#now();
    this.#stage = { name, total, found: 0, made: 0, faults: 0, began: now, told: now };
    this.#pace = new Pace(now);
    this.#log.info({ stage: name, total }, 'stage begins');
  }

  found(samples: number): void {
    this.#stage.found += samples;
  }

  advance(samples: number, faults: readonly Fault[]): void {
    const stage = this.#stage;
    stage.made += samples;
    for (const { item, reason } of faults) {
      if (stage.faults++ < TOLD_FAULTS) this.#log.warn({ stage: stage.name, item, reason }, 'skipped');
    }
    const now = this.#now();
    this.#pace.add(samples, now);
    if (now - stage.told < LINE_SECONDS) return;
    stage.told = now;
    const { rate } = this.#pace;
    const made = stage.found + stage.made;
    const left = rate > 0 ? Math.max(0, Math.round((stage.total - made) / rate)) : null;
    this.#log.info(
      { stage: stage.name, made, total: stage.total, perSecond: Number(rate.toPrecision(3)), secondsLeft: left },
      'progress',
    );
  }

  end(): void {
    const { name, made, faults, began } = this.#stage;
    this.#log.info({ stage: name, made, faults, seconds: round(this.#now() - began) }, 'stage ends');
  }

  count(what: string, number: number): void {
    const now = this.#now();
    if (what !== this.#counted.what) this.#counted = { what, told: now };
    if (now - this.#counted.told < LINE_SECONDS) return;
    this.#counted.told = now;
    this.#log.info({ number }, what);
  }

  info(message: string): void {
    this.#log.info(message);
  }

  warn(message: string): void {
    this.#log.warn(message);
  }
}

/** "8.3/s", "45 s each", "–" before the first. */
function rateText(rate: number): string {
  if (rate === 0) return '–';
  return rate < 0.5 ? `${duration(1 / rate)} each` : `${rate.toFixed(1)}/s`;
}

const round = (value: number) => Number(value.toFixed(1));

/** "45 s", "12 min", "3.5 h", "2.1 days". */
export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86_400).toFixed(1)} days`;
}

/** "12.3 MB". */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${units[power]}`;
}
