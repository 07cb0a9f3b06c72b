import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../pipeline/usage-error.ts';
import type { GlBackEnd } from '../renderers/gl-back-ends.ts';
import { MAX_BOUNCES } from '../renderers/page/path-tracer-shader.ts';
import { RenderHost } from '../renderers/render-host.ts';
import { type Convergence, convergence, secondsTo } from './fidelity/convergence.ts';
import { blenderVersion, cyclesPicture, cyclesPictures } from './fidelity/cycles.ts';
import { flip } from './fidelity/flip.ts';
import { ourPicture, SceneShelf, tracedPicture } from './fidelity/ours.ts';
import { Peer } from './fidelity/peer.ts';
import {
  commonMask,
  coverageOverlap,
  displayed,
  type LinearPicture,
  meanInside,
  psnr,
  rmse,
  type TimedPicture,
} from './fidelity/pictures.ts';
import { type Compared, type ComparedScene, writeReport } from './fidelity/report.ts';
import { type FidelityScene, fidelityScenes } from './fidelity/scenes.ts';
import type { BenchSettings } from './measure.ts';

/** Samples a pixel of a converged picture. */
const CONVERGED = 2048;
const SIZE = 256;
/** Samples of the pictures whose noise is measured, by the converged one's: 16, 64 and 128 of 2,048. Times are to the last one's noise, about the engine's default. */
const NOISY = [1 / 128, 1 / 32, 1 / 16];
/** Below that, two of them are the same. */
const FEWEST = 64;
/** Samples of three-gpu-pathtracer's converged picture, by the others': each takes it many times as long. */
const PEER_SHARE = 1 / 4;
/** Seeds of the converged pictures, and of the noisy ones. */
const SEED = 1;
const NOISY_SEED = 2;
/** An image may take an hour. */
const TIME_LIMIT = 3_600_000;

/** What the path tracer is to reach. */
const TARGET_PSNR = 30;
const TARGET_PEER = 1.5;
const TARGET_CYCLES = 3;

/** What was found out about a scene. */
interface Result extends ComparedScene {
  readonly opaque: boolean;
  readonly overlap: number;
  readonly times: { readonly ours: number; readonly peer: number | undefined; readonly cycles: number };
}

/**
 * The product's engines against Cycles, on scenes of the starter packs that are stated in nodes for it, and against
 * three-gpu-pathtracer, in the same browser, where it can draw them. Then how long each takes to the same noise, measured against its own
 * converged picture. Pictures by Cycles are kept in the user's cache folder; times are always measured anew.
 */
export async function fidelity({ count = CONVERGED, browser, gl, scenes, out }: BenchSettings): Promise<void> {
  if (!(count >= FEWEST)) throw new UsageError(`--count: expected at least ${FEWEST} samples a pixel, got ${count}`);
  const version = await blenderVersion();
  if (!version) {
    console.log('skipped: no blender on the PATH (Debian and Ubuntu: apt-get install blender)');
    return;
  }
  const chosen = await fidelityScenes(SIZE, scenes);
  if (chosen.length === 0) throw new UsageError(`--scenes: no scene's name holds "${scenes}"`);
  const host = await RenderHost.start({ browser, gl: gl as GlBackEnd | undefined, pages: 1, timeLimit: TIME_LIMIT });
  const title = `${version}, ${count} samples a pixel, ${SIZE}²; ${host.facts.webglRenderer}`;
  const lines: string[] = [];
  const say = (line: string) => {
    console.log(line);
    lines.push(line);
  };
  const results: Result[] = [];
  const shelf = new SceneShelf();
  try {
    say(title);
    say(HEAD);
    for (const scene of chosen) {
      const result = await compare(scene, { host, shelf, version, samples: count });
      results.push(result);
      say(row(result));
    }
  } finally {
    await host.close();
  }
  for (const line of verdict(results)) say(line);
  const folder = out ?? join(tmpdir(), 'shapemill-fidelity');
  console.log(await writeReport(folder, 'Fidelity to Cycles', lines, results));
}

interface Setting {
  readonly host: RenderHost;
  /** One for all scenes: pages know what they hold by its number. */
  readonly shelf: SceneShelf;
  /** Of Blender. */
  readonly version: string;
  /** Of converged pictures. */
  readonly samples: number;
}

async function compare(scene: FidelityScene, { host, shelf, version, samples }: Setting): Promise<Result> {
  const noisy = NOISY.map(share => Math.max(1, Math.round(share * samples)));
  const cycles = await cyclesPicture(scene, { samples, seed: SEED }, version, MAX_BOUNCES);
  const items = shelf.put(scene);
  const raster = await ourPicture(host, shelf, items, scene, { name: 'raster' });
  const trace = (paths: number, seed: number) => tracedPicture(host, shelf, items, scene, paths, seed);
  const traced = await trace(samples, SEED);
  const mask = commonMask([cycles.picture, traced.picture, raster.picture]);
  const others = [
    compared('path traced', traced.picture, cycles.picture, mask),
    compared('raster', raster.picture, cycles.picture, mask),
  ];

  const ours = convergence(await inTurn(noisy, paths => trace(paths, NOISY_SEED)), traced, mask);
  const theirs = convergence(
    await cyclesPictures(
      scene,
      noisy.map(samples => ({ samples, seed: NOISY_SEED })),
      MAX_BOUNCES,
    ),
    cycles,
    mask,
  );
  let peers: Convergence | undefined;
  if (scene.constant) {
    const peer = await Peer.open(host, scene, MAX_BOUNCES);
    const converged = await peer.draw(SIZE, Math.round(PEER_SHARE * samples));
    others.push(compared('three-gpu-pathtracer', converged.picture, cycles.picture, mask));
    peers = convergence(await inTurn(noisy, paths => peer.draw(SIZE, paths)), converged, mask);
    await peer.close();
  }
  const level = Math.sqrt(ours.noise / Math.max(...noisy));
  const times = {
    ours: secondsTo(level, ours),
    peer: peers && secondsTo(level, peers),
    cycles: secondsTo(level, theirs),
  };
  const overlap = coverageOverlap(cycles.picture, traced.picture);
  const speeds = Object.entries({ ours, Cycles: theirs, ...(peers && { 'three-gpu-pathtracer': peers }) }).map(
    ([engine, { secondsPerSample, noise }]) =>
      `${engine} ${(1000 * secondsPerSample).toFixed(0)} ms a sample, noise ${Math.sqrt(noise).toPrecision(3)}`,
  );
  const note = `masks overlap by ${overlap.toFixed(4)}; to an RMSE of ${level.toPrecision(3)}: ${speeds.join('; ')}; converged pictures differ by an RMSE of ${rmse(traced.picture, cycles.picture, mask).toPrecision(3)}`;
  return { name: scene.name, opaque: scene.opaque, cycles: cycles.picture, others, mask, overlap, times, note };
}

async function inTurn(samples: readonly number[], draw: (samples: number) => Promise<TimedPicture>) {
  const pictures: TimedPicture[] = [];
  for (const paths of samples) pictures.push(await draw(paths));
  return pictures;
}

function compared(engine: string, picture: LinearPicture, reference: LinearPicture, mask: Uint8Array): Compared {
  const errors = flip(displayed(reference, mask), displayed(picture, mask), picture.size);
  return { engine, picture, psnr: psnr(picture, reference, mask), flip: meanInside(errors, mask) };
}

const NAME_WIDTH = 38;
const HEAD = [
  `${'PSNR in dB, FLIP in thousandths'.padEnd(NAME_WIDTH)}  path traced     raster       three-gpu-pt   mask`,
  `${''.padEnd(NAME_WIDTH)}   PSNR  FLIP   PSNR  FLIP   PSNR  FLIP   IoU     seconds to equal RMSE: ours, three-gpu-pt, Cycles`,
].join('\n');

function row({ name, opaque, others, overlap, times }: Result): string {
  const [traced, raster, peer] = others.map(
    ({ psnr, flip }) => `${psnr.toFixed(1).padStart(6)} ${(1000 * flip).toFixed(0).padStart(5)}`,
  );
  const none = '     –     –';
  const peerTime =
    times.peer === undefined ? '–' : `${times.peer.toFixed(1)} (${(times.peer / times.ours).toFixed(1)} ×)`;
  const cyclesTime = `${times.cycles.toFixed(1)} (ours takes ${(times.ours / times.cycles).toFixed(2)} ×)`;
  const label = opaque ? name : `${name} *`;
  return `${label.padEnd(NAME_WIDTH)} ${traced} ${raster} ${peer ?? none}  ${overlap.toFixed(3)}   ${times.ours.toFixed(1)}, ${peerTime}, ${cyclesTime}`;
}

/** How the targets are met. */
function verdict(results: readonly Result[]): string[] {
  const opaque = results.filter(result => result.opaque);
  const levels = opaque.map(({ others }) => others[0]!.psnr);
  const reached = levels.filter(level => level >= TARGET_PSNR).length;
  const geometricMean = (ratios: readonly number[]) =>
    Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  const versusPeer = results.flatMap(({ times }) => (times.peer === undefined ? [] : [times.peer / times.ours]));
  const versusCycles = opaque.map(({ times }) => times.ours / times.cycles);
  const lines = [
    '* glass: beside the targets. Ratios below are geometric means; – : three-gpu-pathtracer has no box projection.',
  ];
  if (levels.length > 0) {
    lines.push(
      `path traced, opaque: ${reached} of ${levels.length} scenes reach ${TARGET_PSNR} dB (least ${Math.min(...levels).toFixed(1)})`,
      `time to equal RMSE: ${geometricMean(versusCycles).toFixed(2)} × Cycles (target: at most ${TARGET_CYCLES})`,
    );
  }
  if (versusPeer.length > 0) {
    lines.push(
      `three-gpu-pathtracer takes ${geometricMean(versusPeer).toFixed(2)} × ours (target: at least ${TARGET_PEER})`,
    );
  }
  return lines;
}
