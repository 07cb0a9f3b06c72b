import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openAnnotated } from '../../pipeline/annotated-picture.ts';
import type { SegmentedObject } from '../../pipeline/datasets/dataset.ts';
import { scratchFolder } from '../runs/command.ts';
import { gradient } from '../runs/segmentation-folder.ts';

const path = join(scratchFolder(), 'turned.jpg');
/** Stored 60 × 40, shown 40 × 60. */
beforeAll(() => gradient(60, 40).withMetadata({ orientation: 6 }).jpeg().toFile(path));

function object(width: number, height: number, side = 10): SegmentedObject {
  return {
    mask: { width: side, height: side, data: new Uint8Array(side * side).fill(255) },
    box: { left: 0, top: 0, width: side, height: side },
    area: side * side,
    width,
    height,
    label: 'box',
    category: 'box',
    instance: null,
    taxonomy: {},
  };
}

describe('a picture that EXIF turns is taken', () => {
  it('turned, where its masks count in that', async () => {
    const { photo, objects } = await openAnnotated(path, [object(40, 60)], 1e6);
    expect([photo.width, photo.height, photo.asStored]).toEqual([40, 60, undefined]);
    expect(objects).toEqual([object(40, 60)]);
  });

  it('as stored, where they count in that', async () => {
    const { photo } = await openAnnotated(path, [object(60, 40)], 1e6);
    expect([photo.width, photo.height, photo.asStored]).toEqual([60, 40, true]);
  });

  it('in neither way where they do not agree', async () => {
    await expect(openAnnotated(path, [object(40, 60), object(60, 40)], 1e6)).rejects.toThrow(
      'mask of 60×40 does not fit its picture of 40×60',
    );
  });
});

it('masks are brought to the size of their picture, and those of which nothing is left are left out', async () => {
  const { objects } = await openAnnotated(path, [object(80, 120), object(80, 120, 1), object(20, 30, 4)], 1e6);
  expect(objects.map(({ box, area, width, height }) => [box.width, area, width, height])).toEqual([
    [5, 25, 40, 60],
    [8, 64, 40, 60],
  ]);
});
