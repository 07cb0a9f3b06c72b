import type { Browser, Page } from 'puppeteer-core';
import { AssetServer, type AssetSource } from './asset-server.ts';
import { endBrowser, type FoundBrowser, findBrowser, killBrowser, type StartedBackEnd } from './browser.ts';
import type { GlBackEnd } from './gl-back-ends.ts';
import { type StartedBrowser, startDrawing } from './gl-probe.ts';
import { bundlePage } from './page-bundle.ts';
import { type RenderJob, type RenderTimes, UNUSABLE } from './render-job.ts';
import { TookTooLong, withLimit } from './time-limit.ts';
import { isSwiftShader } from './webgl-renderer.ts';

/** What concerns the machine: which browser draws, with what, and how much at a time. */
export interface RenderSettings {
  /** Path of a Chrome or Chromium; the first that is found when left out. */
  readonly browser?: string | undefined;
  readonly gl?: GlBackEnd | undefined;
  /** Pages that draw at the same time; as many as suit the renderer when left out. */
  readonly pages?: number | undefined;
  /** A page that draws and gives no sign of life for longer counts as hanging, milliseconds. */
  readonly timeLimit?: number | undefined;
}

/** What draws. */
export interface RendererFacts {
  readonly browser: string;
  readonly origin: FoundBrowser['origin'];
  readonly version: string;
  readonly backEnd: StartedBackEnd;
  readonly webglRenderer: string;
  readonly software: boolean;
}

export interface RenderedFrame {
  /** As the job's `output` says. */
  readonly pixels: Uint8Array<ArrayBuffer>;
  /** Depth and normals, where the job asks for them, in its form; in the same memory behind the pixels. */
  readonly geometry?: Float32Array<ArrayBuffer>;
  readonly times: RenderTimes;
}

/** llvmpipe uses two cores a page, SwiftShader all there are; a graphics card is kept busy by a few. */
const pagesFor = ({ software, webglRenderer }: StartedBrowser) =>
  software ? (isSwiftShader(webglRenderer) ? 1 : 2) : 4;

/** Images in work in a page: while one is drawn, the assets of the next are fetched. */
const LANES = 2;

/** A page is replaced after so many images, or when its heap has grown so large: long-lived pages leak in all browsers. */
const MAX_IMAGES_A_PAGE = 2000;
const MAX_HEAP_BYTES = 2e9;
const IMAGES_BETWEEN_CHECKS = 100;

/** The first image of a page compiles its shaders, which takes seconds on software. */
const TIME_LIMIT = 120_000;

/**
 * Images are drawn again on a fresh page: once more when the page cannot use what they are made of. What the machine does to
 * them (a GPU process that dies, say, and whose successor is not up yet) may happen several times in a row.
 */
const ATTEMPTS = { unusable: 2, all: 4 };

/** Milliseconds before the third attempt and the fourth: what was killed should be back by then. */
const PAUSE = 2000;

interface Order {
  readonly number: number;
  readonly job: RenderJob;
  readonly source: AssetSource;
  attempts: number;
  /** The page that draws it. */
  slot?: Slot;
  pixels?: Uint8Array<ArrayBuffer>;
  readonly resolve: (frame: RenderedFrame) => void;
  readonly reject: (error: unknown) => void;
}

/** A page with its images in work. */
interface Slot {
  readonly page: Promise<Page>;
  /** Fails when its process ends: calls of a page that is gone are never answered. */
  readonly crashed: Promise<never>;
  /** Why this page is not used any more, once it is not. */
  broken?: string;
  images: number;
  busy: number;
  /** When it last gave a sign of life. */
  heard: number;
}

/** Draws scenes in a browser: starts it, keeps its pages at work, watches them, and replaces what breaks. */
export class RenderHost {
  readonly facts: RendererFacts;
  readonly #found: FoundBrowser;
  readonly #timeLimit: number;
  readonly #signal: AbortSignal | undefined;
  readonly #orders = new Map<number, Order>();
  readonly #waiting: Order[] = [];
  readonly #slots: Slot[] = [];
  readonly #pages: number;
  /** Browsers that are there and do not answer. */
  readonly #hanging = new WeakSet<Browser>();
  #server!: AssetServer;
  #browser: Promise<Browser>;
  #numbers = 0;
  #closed = false;

  private constructor(
    found: FoundBrowser,
    started: StartedBrowser,
    version: string,
    settings: RenderSettings,
    signal: AbortSignal | undefined,
  ) {
    this.#found = found;
    this.#signal = signal;
    this.#timeLimit = settings.timeLimit ?? TIME_LIMIT;
    this.#pages = settings.pages ?? pagesFor(started);
    this.#browser = Promise.resolve(started.browser);
    const { backEnd, webglRenderer, software } = started;
    this.facts = { browser: found.path, origin: found.origin, version, backEnd, webglRenderer, software };
  }

  /**
   * Starts a browser.
   * @param signal ends the browser, also while it starts.
   * @param found the browser, where it was looked for before.
   * @throws Error when there is none, or none that draws.
   */
  static async start(settings: RenderSettings = {}, signal?: AbortSignal, found?: FoundBrowser): Promise<RenderHost> {
    const chosen = found ?? (await findBrowser(settings.browser));
    const [started, script] = await Promise.all([startDrawing(chosen, settings.gl ?? 'auto', signal), bundlePage()]);
    const host = new RenderHost(chosen, started, await started.browser.version(), settings, signal);
    host.#server = await AssetServer.start(script, {
      source: job => host.#orders.get(job)?.source,
      frameBytes: job => frameBytes(host.#orders.get(job)?.job),
      alive: job => {
        const slot = host.#orders.get(job)?.slot;
        if (slot) slot.heard = Date.now();
      },
      frame: (job, pixels) => {
        const order = host.#orders.get(job);
        if (order) order.pixels = pixels;
      },
    });
    return host;
  }

  /** The browser as it is now: for those who measure it, or put it to the test. */
  browser(): Promise<Browser> {
    return this.#browser;
  }

  /**
   * Draws an image.
   * @throws Error when several pages in turn failed to.
   */
  render(job: RenderJob, source: AssetSource): Promise<RenderedFrame> {
    return new Promise((resolve, reject) => {
      const order: Order = { number: this.#numbers++, job, source, attempts: 0, resolve, reject };
      this.#orders.set(order.number, order);
      this.#waiting.push(order);
      this.#dispatch();
    });
  }

  /** Ends the browser; images in work fail. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const order of this.#orders.values()) order.reject(new Error('the render host was closed'));
    this.#orders.clear();
    this.#waiting.length = 0;
    await this.#server.close();
    const browser = await this.#browser.catch(() => undefined);
    if (browser) await endBrowser(browser);
  }

  #openSlot(): Slot {
    const page = this.#openPage();
    const crashed = page.then(opened => new Promise<never>((_, reject) => opened.once('error', reject)));
    crashed.catch(() => {}); // looked at by the image that needs it, and so is the page
    return { page, crashed, images: 0, busy: 0, heard: 0 };
  }

  /**
   * A page in a browser that answers and draws with what the first one drew with: one that hangs (its GPU process does, say), or has
   * turned to another renderer after its GPU process died, is ended, and another one started.
   */
  async #openPage(): Promise<Page> {
    const browser = await this.#liveBrowser();
    try {
      return await this.#openPageIn(browser);
    } catch (error) {
      if (!(error instanceof TookTooLong || error instanceof OtherRenderer)) throw error;
      this.#hanging.add(browser);
      killBrowser(browser);
      return await this.#openPageIn(await this.#liveBrowser());
    }
  }

  #openPageIn(browser: Browser): Promise<Page> {
    const open = async () => {
      const page = await browser.newPage();
      await page.goto(this.#server.pageUrl, { timeout: 0 });
      const webglRenderer = await page.evaluate(() => shapemill.open());
      if (webglRenderer !== this.facts.webglRenderer) {
        throw new OtherRenderer(`expected ${this.facts.webglRenderer} to draw, got ${webglRenderer}`);
      }
      return page;
    };
    return withLimit(open(), this.#timeLimit, 'opening a page');
  }

  /** The browser, started again when it died. */
  async #liveBrowser(): Promise<Browser> {
    const browser = await this.#browser.catch(() => undefined);
    if (browser && this.#answers(browser)) return browser;
    if (this.#closed) throw new Error('the render host was closed');
    // Of several pages that notice, the first starts it.
    const current = this.#browser;
    const again = current.then(
      async b => (this.#answers(b) ? b : this.#restart()),
      () => this.#restart(),
    );
    if (this.#browser === current) this.#browser = again;
    return this.#browser;
  }

  #answers(browser: Browser): boolean {
    return browser.connected && !this.#hanging.has(browser);
  }

  async #restart(): Promise<Browser> {
    return (await startDrawing(this.#found, this.facts.backEnd, this.#signal)).browser;
  }

  #dispatch(): void {
    // Pages are opened as images need them: many at once would keep each other from starting.
    while (this.#slots.length < this.#pages && this.#slots.length < this.#orders.size) {
      this.#slots.push(this.#openSlot());
    }
    for (const [i, slot] of this.#slots.entries()) {
      while (this.#waiting.length > 0 && slot.busy < this.#lanes() && !slot.broken) {
        void this.#draw(i, slot, this.#waiting.shift()!);
      }
    }
  }

  /** Every page gets one image before any gets two. */
  #lanes(): number {
    return this.#slots.some(slot => slot.busy === 0 && !slot.broken) ? 1 : LANES;
  }

  async #draw(place: number, slot: Slot, order: Order): Promise<void> {
    slot.busy++;
    slot.images++;
    delete order.pixels;
    order.slot = slot;
    try {
      const page = await slot.page;
      slot.heard = Date.now();
      const times = await withLimit(
        Promise.race([
          page.evaluate((number, job) => shapemill.render(number, job), order.number, order.job),
          slot.crashed,
        ]),
        this.#timeLimit,
        `an image (${order.job.scene.object.id})`,
        () => slot.heard,
      );
      slot.heard = Date.now();
      if (!order.pixels) throw new Error('the page sent no pixels');
      this.#orders.delete(order.number);
      order.resolve({ ...takenApart(order.pixels, order.job), times });
    } catch (error) {
      this.#failed(place, slot, order, error as Error);
    } finally {
      slot.busy--;
    }
    await this.#replaceIfWorn(place, slot);
    this.#dispatch();
  }

  /** Replaces the page and draws the image again, unless it failed too often. */
  #failed(place: number, slot: Slot, order: Order, error: Error): void {
    if (this.#closed) return;
    // An image whose page was given up because of another one is not to blame.
    if (!slot.broken) order.attempts++;
    this.#replace(place, slot, error.message);
    if (order.attempts < (error.message.includes(UNUSABLE) ? ATTEMPTS.unusable : ATTEMPTS.all)) {
      if (order.attempts < 2) this.#waiting.unshift(order);
      else setTimeout(() => this.#again(order), PAUSE);
      return;
    }
    this.#orders.delete(order.number);
    order.reject(new Error(`drawing failed ${order.attempts} times: ${error.message}`));
  }

  #again(order: Order): void {
    if (this.#closed) return;
    this.#waiting.unshift(order);
    this.#dispatch();
  }

  #replace(place: number, slot: Slot, reason: string): void {
    if (slot.broken) return;
    slot.broken = reason;
    slot.page.then(closeQuietly, () => {});
    this.#slots[place] = this.#openSlot();
  }

  async #replaceIfWorn(place: number, slot: Slot): Promise<void> {
    if (slot.broken || slot.images % IMAGES_BETWEEN_CHECKS !== 0) return;
    const heap = (await (await slot.page).metrics().catch(() => undefined))?.JSHeapUsedSize ?? 0;
    if (slot.images < MAX_IMAGES_A_PAGE && heap < MAX_HEAP_BYTES) return;
    if (slot.busy === 0) this.#replace(place, slot, 'worn');
    else slot.images--; // looked at again after its other image
  }
}

const pixelBytes = ({ scene, output }: RenderJob) => scene.size ** 2 * (output === 'picture' ? 4 : 16);
const geometryBytes = ({ scene, geometry }: RenderJob) => (geometry ? scene.size ** 2 * 16 : 0);

function frameBytes(job: RenderJob | undefined): number | undefined {
  return job && pixelBytes(job) + geometryBytes(job);
}

/** What a page sent, as views of it. */
function takenApart(sent: Uint8Array<ArrayBuffer>, job: RenderJob): Omit<RenderedFrame, 'times'> {
  if (!job.geometry) return { pixels: sent };
  const at = pixelBytes(job);
  return { pixels: sent.subarray(0, at), geometry: new Float32Array(sent.buffer, at) };
}

/** Also a page that hangs: the browser ends its process. */
async function closeQuietly(page: Page): Promise<void> {
  await withLimit(page.close({ runBeforeUnload: false }), 5000, 'closing a page').catch(() => {});
}

/** The browser draws with something else than at first: pictures would not be the same any more. */
class OtherRenderer extends Error {}
