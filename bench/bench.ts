import { parseArgs } from 'node:util';
import sharp from 'sharp';
import { didYouMean } from '../pipeline/usage-error.ts';
import { annotations } from './annotations.ts';
import { exports } from './export.ts';
import { fidelity } from './fidelity.ts';
import { materials } from './materials.ts';
import type { BenchSettings } from './measure.ts';
import { render } from './render.ts';
import { scale } from './scale.ts';
import { scenes2d } from './scenes2d.ts';
import { shapes } from './shapes.ts';
import { silhouettes } from './silhouettes.ts';
import { soak } from './soak.ts';
import { soakSilhouettes } from './soak-silhouettes.ts';
import { soak3d } from './soak3d.ts';
import { textures } from './textures.ts';
import { workers } from './workers.ts';

const BENCHES: Readonly<Record<string, (settings: BenchSettings) => Promise<void>>> = {
  shapes,
  textures,
  materials,
  scenes2d,
  silhouettes,
  export: exports,
  render,
  fidelity,
  soak,
  soak3d,
  'soak-silhouettes': soakSilhouettes,
  scale,
  annotations,
  workers,
};

const USAGE = `npm run bench -- shapes | textures | materials | scenes2d | silhouettes | export | render | fidelity | soak | soak3d | soak-silhouettes | scale | annotations | workers [--photos DIR] [--count N]
       npm run bench -- render [--browser PATH] [--gl BACKEND] [--count N]
       npm run bench -- fidelity [--browser PATH] [--gl BACKEND] [--count SAMPLES] [--scenes PART-OF-A-NAME] [--out DIR]
       npm run bench -- silhouettes [--segmentation NAME:DIR] [--count N]

Rates are per second of one core's CPU time, all measured in this one run: machines differ, ratios carry over.
  ours      the product's own code, decoding and encoding included
  literal   the plain implementation of the rule that the tests compare with
  floor     what cannot be avoided: decoding, resizing, encoding
  python    the same rule with OpenCV, where python3 has it`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    photos: { type: 'string' },
    count: { type: 'string' },
    browser: { type: 'string' },
    gl: { type: 'string' },
    segmentation: { type: 'string' },
    scenes: { type: 'string' },
    out: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});
const name = positionals[0];
const bench = name === undefined ? undefined : BENCHES[name];
if (values.help || !bench) {
  console.log(
    name === undefined || values.help
      ? USAGE
      : `unknown bench "${name}"${didYouMean(name, Object.keys(BENCHES))}\n\n${USAGE}`,
  );
  process.exitCode = values.help ? 0 : 2;
} else {
  sharp.concurrency(1);
  sharp.cache(false);
  const { photos, count, browser, gl, segmentation, scenes, out } = values;
  await bench({
    photos,
    browser,
    gl,
    segmentation,
    scenes,
    out,
    count: count === undefined ? undefined : Number(count),
  });
}
