import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { DATASET_NAMES } from '../../../pipeline/datasets/dataset.ts';
import { READERS, readObjects, resolveDatasets } from '../../../pipeline/datasets/datasets.ts';
import { InputFault } from '../../../pipeline/faults.ts';
import { buildPhotoIndex } from '../../../pipeline/photo-index.ts';
import type { SourceFile } from '../../../pipeline/photo-sources.ts';
import { UsageError } from '../../../pipeline/usage-error.ts';
import { drawing, jpeg, png, put, rowsOf, temporaryFolder, VOC_PALETTE } from './fixtures.ts';

const folder = temporaryFolder();
const inFolder = (path: string) => join(folder(), path);

async function addVoc(root: string) {
  await put(join(root, 'JPEGImages/1.jpg'), await jpeg(4, 4));
  const indexed = (...rows: string[]) => png({ ...drawing(...rows), colourType: 3, palette: VOC_PALETTE });
  await put(join(root, 'SegmentationObject/1.png'), indexed('.2', '22'));
  await put(join(root, 'SegmentationClass/1.png'), indexed('.8', '88'));
}

beforeAll(async () => {
  await addVoc(inFolder('VOC2012'));
  await addVoc(inFolder('other/VOC2012'));
  await put(inFolder('photos/a.jpg'), await jpeg(4, 4));
  for (let i = 0; i < 12; i++) await put(inFolder(`many/${String(i).padStart(2, '0')}.txt`), '');
});

async function refusal(...names: string[]): Promise<string> {
  const error: unknown = await resolveDatasets(names, null).catch(error => error);
  expect(error).toBeInstanceOf(UsageError);
  expect((error as Error).message).not.toContain('\n');
  return (error as Error).message;
}

it('readers go by their names', () => {
  for (const name of DATASET_NAMES) expect(READERS[name].name).toBe(name);
});

describe('what cannot be a dataset', () => {
  it('is told with the nearest name', async () => {
    expect(await refusal(`vocs:${folder()}`)).toMatch(
      /^expected a segmentation dataset as name:DIR \(names: imagenet-s, .*\), got "vocs:.*" \(did you mean "voc"\?\)$/,
    );
    expect(await refusal('imagenets:/data')).toContain('(did you mean "imagenet-s"?)');
    expect(await refusal('sprite')).toContain('(did you mean "sprites"?)');
    expect(await refusal(folder())).not.toContain('did you mean');
    // Names of what objects inherit are none.
    expect(await refusal('constructor:/data')).toMatch(/^expected a segmentation dataset/);
  });

  it('needs a folder', async () => {
    const expected = 'expected a folder after "voc:" (voc:DIR), got none';
    expect(await refusal('voc')).toBe(expected);
    expect(await refusal('voc:')).toBe(expected);
  });

  it('needs one that is there', async () => {
    expect(await refusal(`voc:${inFolder('nowhere')}`)).toBe(
      'voc: expected PASCAL VOC 2012: a folder with JPEGImages/, SegmentationClass/ and SegmentationObject/ (VOC2012, or ' +
        `VOCdevkit above it); found nothing at ${inFolder('nowhere')}`,
    );
    expect(await refusal(`cub:${inFolder('photos/a.jpg')}`)).toBe(
      'cub: expected CUB-200-2011: a folder with images/NNN.Name/ and, in it or beside it, segmentations/NNN.Name/ ' +
        '(CUB_200_2011, or the folder above it; segmentations are an archive of their own); ' +
        `found a file at ${inFolder('photos/a.jpg')}`,
    );
  });

  it('needs its own layout: what is there instead is told, if not all of it', async () => {
    expect(await refusal(`voc:${inFolder('photos')}`)).toBe(
      'voc: expected PASCAL VOC 2012: a folder with JPEGImages/, SegmentationClass/ and SegmentationObject/ ' +
        `(VOC2012, or VOCdevkit above it); found a.jpg in ${inFolder('photos')}`,
    );
    expect(await refusal(`imagenet-s:${inFolder('VOC2012')}`)).toMatch(
      /; found JPEGImages\/, SegmentationClass\/, SegmentationObject\/ in /,
    );
    expect(await refusal(`cub:${inFolder('many')}`)).toMatch(/; found 00\.txt, .*, 07\.txt and 4 more in /);
  });

  for (const name of DATASET_NAMES) {
    it(`${name}: a folder of something else`, async () => {
      expect(await refusal(`${name}:${inFolder('many')}`)).toMatch(new RegExp(`^${name}: expected .* found .* in `));
    });
  }

  it('is another of the same name', async () => {
    const names = [`voc:${inFolder('VOC2012')}`, `voc:${inFolder('other/VOC2012')}`];
    expect(await refusal(...names)).toBe(
      `two sources are called "VOC2012": ${inFolder('VOC2012')} and ${inFolder('other/VOC2012')}; name a folder above both, or rename one`,
    );
    // One dataset named twice is one.
    expect(await resolveDatasets([names[0]!, names[0]!], null)).toHaveLength(2);
  });
});

describe('a source', () => {
  const files = async (licences: readonly string[] | null) => {
    const found: SourceFile[] = [];
    for (const source of await resolveDatasets([`voc:${inFolder('VOC2012')}`], licences)) {
      for await (const file of source.files()) found.push(file);
    }
    return found;
  };

  it('keeps of each picture what its reader needs', async () => {
    const root = inFolder('VOC2012');
    expect(await files(null)).toEqual([
      {
        path: join(root, 'JPEGImages/1.jpg'),
        file: 'JPEGImages/1.jpg',
        split: null,
        licence: null,
        author: null,
        url: null,
        detail: {
          dataset: 'voc',
          part: null,
          entry: { classes: join(root, 'SegmentationClass/1.png'), objects: join(root, 'SegmentationObject/1.png') },
        },
      },
    ]);
  });

  it('gives nothing of unknown licence where licences are asked for', async () => {
    expect(await files(['CC-BY-4.0'])).toEqual([]);
  });

  it('may be named from the home folder', async () => {
    vi.stubEnv('HOME', folder());
    expect(await resolveDatasets(['voc:~/VOC2012'], null)).toMatchObject([
      { pack: 'VOC2012', root: inFolder('VOC2012') },
    ]);
    vi.unstubAllEnvs();
  });

  it("gives its objects from a run's list", async () => {
    const sources = await resolveDatasets([`voc:${inFolder('VOC2012')}`], null);
    const index = await buildPhotoIndex(inFolder('run'), sources, 1);
    expect(index.facts.files).toBe(1);
    const [file] = await index.block(0, 1);
    const { reader, part, objects } = await readObjects(file!);
    expect([reader.name, part]).toEqual(['voc', null]);
    expect(objects.map(object => [object.label, object.instance, ...rowsOf(object)])).toEqual([
      ['cat', '2', '.#', '##'],
    ]);
  });

  it('gives no objects of a picture that is listed with different masks, and none whose class has no name', async () => {
    const square = { category_id: 1, segmentation: [[0, 0, 3, 0, 3, 2, 0, 2]] };
    const size = { width: 3, height: 2 };
    const content = {
      images: [
        { id: 1, file_name: 'a.jpg', ...size },
        { id: 2, file_name: 'a.jpg', ...size },
        { id: 3, file_name: 'b.jpg', ...size },
      ],
      annotations: [
        { id: 1, image_id: 1, ...square },
        { id: 2, image_id: 2, ...square },
        { id: 3, image_id: 3, ...square },
      ],
      categories: [{ id: 1, name: ' ' }],
    };
    await put(inFolder('twice/instances.json'), JSON.stringify(content));
    const index = await buildPhotoIndex(
      inFolder('run-twice'),
      await resolveDatasets([`coco:${inFolder('twice')}`], null),
      1,
    );
    const reasons = new Map<string, unknown>();
    for (const file of await index.block(0, index.facts.files)) {
      reasons.set(file.provenance.file, await readObjects(file).catch(error => error));
    }
    expect(Object.fromEntries(reasons)).toEqual({
      'a.jpg': new InputFault('the picture is listed more than once, with different masks or labels'),
      'b.jpg': new InputFault('the class "1" has no name'),
    });
  });
});
