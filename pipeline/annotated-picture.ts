import type { RgbImage } from '../extractors/image.ts';
import { hasSameAspect, maskAtSize } from '../extractors/mask-fit.ts';
import type { SegmentedObject } from './datasets/dataset.ts';
import { InputFault } from './faults.ts';
import { openPhoto, type Photo, photoAsStored, refuseAbove } from './photo.ts';

/** A picture and the objects in it, in its pixels. */
export interface AnnotatedPicture {
  readonly photo: Photo;
  /** The photo's pixels, where the reader of its masks decoded them. */
  readonly picture: RgbImage | undefined;
  readonly objects: readonly SegmentedObject[];
}

/**
 * Opens the picture that masks belong to. Where EXIF turns it, some datasets count in the turned and some in the stored pixels:
 * the sizes tell. Masks of a picture of another size but the same shape are brought to its size; those of which nothing is left
 * are left out.
 * @param objects at least one.
 * @throws InputFault when the picture cannot be used, or a mask does not fit it either way.
 */
export async function openAnnotated(
  path: string,
  objects: readonly SegmentedObject[],
  maxPixels: number,
): Promise<AnnotatedPicture> {
  const decoded = objects[0]?.decoded;
  if (decoded) refuseAbove(maxPixels, decoded.photo);
  const upright = decoded?.photo ?? (await openPhoto(path, maxPixels));
  const photo = [upright, photoAsStored(upright)].find(view => objects.every(object => hasSameAspect(object, view)));
  if (!photo) {
    const { width, height } = objects.find(object => !hasSameAspect(object, upright))!;
    throw new InputFault(`mask of ${width}×${height} does not fit its picture of ${upright.width}×${upright.height}`);
  }
  return { photo, picture: decoded?.picture, objects: objects.flatMap(object => atSizeOf(photo, object)) };
}

function atSizeOf({ width, height }: Photo, object: SegmentedObject): SegmentedObject[] {
  if (object.width === width && object.height === height) return [object];
  const resized = maskAtSize(object, object, { width, height });
  return resized ? [{ ...object, ...resized, width, height }] : [];
}
