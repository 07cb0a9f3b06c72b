import { DEFAULTS, drawTries, findNaturalShape } from '../extractors/natural-shape.ts';
import { decodeMask, encodeGrey } from '../pipeline/bank-images.ts';
import { decodePhoto, openPhoto } from '../pipeline/photo.ts';
import { rng } from '../sampling/rng.ts';
import { literalNaturalShape } from '../tests/literal/natural-shape.ts';
import { type BenchSettings, cpuSeconds, oneByOne, printRows, type Row, runPython } from './measure.ts';
import { benchPhotos } from './photos.ts';

/** Photos that the literal version looks at: it takes seconds for one. */
const SLOW_PHOTOS = 6;

/** A natural shape from a whole photo: decode, shrink, tries, thickness, PNG. */
export async function shapes({ photos, count }: BenchSettings): Promise<void> {
  const paths = await benchPhotos(photos, count);
  const look = async (path: string) => decodePhoto(await openPhoto(path), { shortSide: DEFAULTS.workSide });
  const tries = (path: string) => drawTries(rng(1, 'bench', path), DEFAULTS);
  const find = async (path: string) => {
    const { shape } = findNaturalShape(await look(path), tries(path), DEFAULTS);
    return shape ? await encodeGrey(shape.mask) : undefined;
  };
  // Compiles the code and warms the file cache; a run makes hundreds of thousands.
  for (const path of paths.slice(0, 10)) await find(path);

  const ours = await cpuSeconds(() => oneByOne(paths, find));
  const masks = await oneByOne(
    ours.result.filter(png => png !== undefined),
    decodeMask,
  );
  const floor = await cpuSeconds(async () => {
    await oneByOne(paths, look);
    await oneByOne(masks, encodeGrey);
  });
  const slow = paths.slice(0, SLOW_PHOTOS);
  const literal = await cpuSeconds(() =>
    oneByOne(slow, async path => literalNaturalShape(await look(path), tries(path), DEFAULTS)),
  );
  const python = await runPython('natural_shapes.py', paths);
  const found = ours.result.filter(png => png !== undefined).length;
  const rows: Row[] = [
    { name: 'ours', count: paths.length, seconds: ours.seconds, note: `${found} shapes from ${paths.length} photos` },
    {
      name: 'literal',
      count: slow.length,
      seconds: literal.seconds,
      note: `TypeScript, the same draws, first ${slow.length} photos`,
    },
    { name: 'floor', count: paths.length, seconds: floor.seconds, note: 'decode, shrink, encode' },
  ];
  if (python)
    rows.push({
      name: 'python',
      count: python.photos!,
      seconds: python.seconds,
      note: `OpenCV, ${python.shapes} shapes`,
    });
  printRows('photos', rows);
}
