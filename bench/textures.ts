import { DEFAULTS, defaultCellSize, findTextureRegions } from '../extractors/texture-regions.ts';
import { decodePhoto, openPhoto } from '../pipeline/photo.ts';
import { literalTextureRegions } from '../tests/literal/texture-regions.ts';
import { type BenchSettings, cpuSeconds, oneByOne, printRows, type Row, runPython } from './measure.ts';
import { benchPhotos } from './photos.ts';

/** Photos that the slow versions look at: they take minutes for a large one. */
const SLOW_PHOTOS = 2;
const WORK_SIDE = 2200;

/** Textures of a photo: decode, 13 channel maps, cell histograms, growing squares. Crops are not encoded. */
export async function textures({ photos, count }: BenchSettings): Promise<void> {
  const paths = await benchPhotos(photos, count ?? 12);
  const look = async (path: string) => decodePhoto(await openPhoto(path), { shortSide: WORK_SIDE });
  const sizes = await oneByOne(paths, look);
  const megapixels = sizes.reduce((sum, { width, height }) => sum + width * height, 0) / sizes.length / 1e6;
  const find = async (path: string) => findTextureRegions(await look(path), DEFAULTS).regions.length;
  await oneByOne(paths.slice(0, 2), find);

  const ours = await cpuSeconds(() => oneByOne(paths, find));
  const floor = await cpuSeconds(() => oneByOne(paths, look));
  const slow = paths.slice(0, SLOW_PHOTOS);
  const literal = await cpuSeconds(() =>
    oneByOne(slow, async path => {
      const image = await look(path);
      return literalTextureRegions(image, {
        ...DEFAULTS,
        cellSize: defaultCellSize(Math.min(image.width, image.height)),
      });
    }),
  );
  const { width, height } = sizes[0]!;
  const python = await runPython('textures.py', [...slow, '--cell', String(defaultCellSize(Math.min(width, height)))]);
  const found = ours.result.reduce((a, b) => a + b, 0);
  const rows: Row[] = [
    {
      name: 'ours',
      count: paths.length,
      seconds: ours.seconds,
      note: `${found} textures; ${megapixels.toFixed(1)} MP on average`,
    },
    { name: 'literal', count: slow.length, seconds: literal.seconds, note: `TypeScript, first ${slow.length} photos` },
    { name: 'floor', count: paths.length, seconds: floor.seconds, note: 'decode and shrink' },
  ];
  if (python)
    rows.push({
      name: 'python',
      count: python.photos!,
      seconds: python.seconds,
      note: `OpenCV and NumPy, first ${slow.length} photos`,
    });
  printRows('photos', rows);
}
