import { readdir } from 'node:fs/promises';
import type { Browser } from 'puppeteer-core';
import { endBrowser, type FoundBrowser, type StartedBackEnd, startBrowser } from './browser.ts';
import type { GlBackEnd } from './gl-back-ends.ts';
import { withLimit } from './time-limit.ts';
import { isSoftware, isSwiftShader } from './webgl-renderer.ts';

/** A browser that draws. */
export interface StartedBrowser {
  readonly browser: Browser;
  readonly backEnd: StartedBackEnd;
  /** What WebGL calls itself: `ANGLE (NVIDIA, …)`. */
  readonly webglRenderer: string;
  /** Whether the processor draws and no graphics card. */
  readonly software: boolean;
}

/**
 * Starts the browser with the back end asked for; with `auto`, with the first that reaches a graphics card, else with the
 * first that draws at all (llvmpipe before SwiftShader, which takes five times as long).
 * @param signal ends the browser, also while it starts.
 * @throws Error when none draws.
 */
export async function startDrawing(found: FoundBrowser, gl: GlBackEnd, signal?: AbortSignal): Promise<StartedBrowser> {
  let software: StartedBrowser | undefined;
  const tried: string[] = [];
  for (const backEnd of gl === 'auto' ? await candidates() : [gl]) {
    // It never reaches a graphics card.
    if (backEnd === 'swiftshader' && software) break;
    const started = await tryTwice(found, backEnd, signal).catch(error => {
      tried.push(`${backEnd}: ${(error as Error).message.split('\n')[0]}`);
      return undefined;
    });
    signal?.throwIfAborted();
    if (!started) continue;
    if (!started.software || gl !== 'auto') {
      await software?.browser.close();
      return started;
    }
    const better = !software || isSwiftShader(software.webglRenderer) ? started : software;
    await (better === started ? software : started)?.browser.close();
    software = better;
  }
  if (software) return software;
  throw new Error(`${found.path} does not draw with WebGL 2 (${tried.join('; ')})`);
}

/** Vulkan only where there is a device to drive: it would be one more start of the browser for nothing. */
async function candidates(): Promise<StartedBackEnd[]> {
  const devices = [...(await readdir('/dev/dri').catch(() => [])), ...(await readdir('/dev').catch(() => []))];
  const card = process.platform !== 'linux' || devices.some(name => /^(renderD\d+|nvidia\d+|dxg)$/.test(name));
  return card ? ['vulkan', 'egl', 'swiftshader'] : ['egl', 'swiftshader'];
}

/** Runs in the browser: the name of the WebGL 2 renderer, null without one. */
const PROBE = `(() => {
  const gl = new OffscreenCanvas(1, 1).getContext('webgl2');
  const names = gl?.getExtension('WEBGL_debug_renderer_info');
  return gl ? String(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER)) : null;
})()`;

/** What a browser does not have; anything else that goes wrong is an accident. */
class NoWebGl extends Error {}

/** Milliseconds that a browser may take to say what draws: under load it takes ten seconds. */
const TIME_LIMIT = 120_000;

/**
 * Once more when a process died or hung, or the browser went over to software of its own: else an accident while a run starts would
 * have it drawn by another renderer.
 */
async function tryTwice(
  found: FoundBrowser,
  backEnd: StartedBackEnd,
  signal: AbortSignal | undefined,
): Promise<StartedBrowser> {
  const first = await tryBackEnd(found, backEnd, signal).catch(error => {
    signal?.throwIfAborted();
    if (error instanceof NoWebGl) throw error;
    return undefined;
  });
  // The browser from npm has nothing else.
  const meant =
    first && (backEnd === 'swiftshader' || found.origin === 'from npm' || !isSwiftShader(first.webglRenderer));
  if (meant) return first;
  await first?.browser.close();
  return tryBackEnd(found, backEnd, signal);
}

async function tryBackEnd(
  found: FoundBrowser,
  backEnd: StartedBackEnd,
  signal: AbortSignal | undefined,
): Promise<StartedBrowser> {
  const browser = await withLimit(startBrowser(found, backEnd, signal), TIME_LIMIT, 'starting the browser');
  const probe = async () => {
    const page = await browser.newPage();
    const webglRenderer = (await page.evaluate(PROBE)) as string | null;
    await page.close();
    return webglRenderer;
  };
  try {
    const webglRenderer = await withLimit(probe(), TIME_LIMIT, 'asking the browser what draws');
    if (webglRenderer === null) throw new NoWebGl('no WebGL 2');
    return { browser, backEnd, webglRenderer, software: isSoftware(webglRenderer) };
  } catch (error) {
    await endBrowser(browser);
    throw error;
  }
}
