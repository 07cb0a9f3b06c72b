import * as http from 'node:http';
import * as https from 'node:https';
import { ProxyAgent } from 'proxy-agent';
import { FetchFault } from './fetch-fault.ts';
import { HostGate, sleep } from './host-gate.ts';
import type { RemoteFile } from './pack-source.ts';
import { type FetchedFile, Transfer } from './transfer.ts';

/** Times in milliseconds. */
export interface FetchSettings {
  /** Requests to one host at a time. */
  readonly perHost: number;
  /** Attempts at a file before it is given up. */
  readonly attempts: number;
  /** Before the second attempt; doubled before each later one, and varied by up to a half either way, so that many do not come back at once. */
  readonly backOff: number;
  readonly longestBackOff: number;
  /** A server that asks for more patience is not waited for. */
  readonly longestRetryAfter: number;
  /** From the request to the answer's first line. */
  readonly answerTimeout: number;
  /** In which at least `leastBytes` of a body have to come. */
  readonly stallTimeout: number;
  readonly leastBytes: number;
}

export const FETCH_SETTINGS: FetchSettings = {
  perHost: 16,
  attempts: 6,
  backOff: 1000,
  longestBackOff: 60_000,
  longestRetryAfter: 600_000,
  answerTimeout: 60_000,
  // The slowest that is worth waiting for: 10 kB a minute.
  stallTimeout: 60_000,
  leastBytes: 10_000,
};

/** Attempts at a file whose size or checksum is wrong each time: then the fault is not on the way. */
const WRONG_ATTEMPTS = 3;

/**
 * Fetches files: so many at a time of each host, again after faults that may pass, through the proxies that HTTP_PROXY,
 * HTTPS_PROXY and NO_PROXY name.
 */
export class Fetcher {
  readonly #settings: FetchSettings;
  readonly #signal: AbortSignal;
  readonly #agent: ProxyAgent;
  /** Of hosts that are asked without a proxy. */
  readonly #direct: { readonly httpAgent: http.Agent; readonly httpsAgent: https.Agent };
  readonly #gates = new Map<string, HostGate>();

  constructor(signal: AbortSignal, settings = FETCH_SETTINGS) {
    this.#signal = signal;
    this.#settings = settings;
    const options = { keepAlive: true, maxSockets: settings.perHost };
    this.#direct = { httpAgent: new http.Agent(options), httpsAgent: new https.Agent(options) };
    this.#agent = new ProxyAgent({ ...options, ...this.#direct });
  }

  /**
   * Fetches a file to `path`, where it appears complete and checked, or not at all. What an earlier process left of a large one is
   * continued, if the server still has the same file.
   * @param mostBytes a longer one is given up, where its publisher tells no length.
   * @param onBytes called with the bytes that came, and with a negative number when some are thrown away.
   * @throws FetchFault when it cannot be had; the system's error when it cannot be written; the signal's reason.
   */
  async fetch(
    remote: RemoteFile,
    path: string,
    mostBytes: number,
    onBytes: (bytes: number) => void = () => {},
  ): Promise<FetchedFile> {
    const transfer = new Transfer(remote, path, mostBytes, onBytes);
    const gate = this.#gateOf(remote.url);
    const settings = { ...this.#settings, agent: this.#agent };
    for (let attempt = 1; ; attempt++) {
      try {
        return await gate.run(() => transfer.attempt(settings, this.#signal), this.#signal);
      } catch (error) {
        this.#signal.throwIfAborted();
        if (!(error instanceof FetchFault)) throw error;
        const { kind, retryAfter = 0 } = error;
        const most = { lasting: 1, wrong: WRONG_ATTEMPTS, passing: settings.attempts }[kind];
        if (attempt >= most && kind !== 'passing') await transfer.discard();
        if (attempt >= most || retryAfter > settings.longestRetryAfter) throw error;
        gate.pause(retryAfter);
        await sleep(this.#backOff(attempt), this.#signal);
      }
    }
  }

  /** Ends all connections. */
  close(): void {
    for (const agent of [this.#agent, ...Object.values(this.#direct)]) agent.destroy();
  }

  #gateOf(url: string): HostGate {
    const host = URL.canParse(url) ? new URL(url).host : '';
    let gate = this.#gates.get(host);
    if (!gate) {
      gate = new HostGate(this.#settings.perHost);
      this.#gates.set(host, gate);
    }
    return gate;
  }

  /** When to come back is no content: it need not be the same in every run. */
  #backOff(attempt: number): number {
    const { backOff, longestBackOff } = this.#settings;
    return Math.min(longestBackOff, backOff * 2 ** (attempt - 1)) * (0.5 + Math.random());
  }
}
