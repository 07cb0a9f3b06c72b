import { STARTER_PHOTOS } from '../pipeline/configuration.ts';
import { resolveSources } from '../pipeline/photo-sources.ts';

/** Paths of the photos a bench looks at, in name order. */
export async function benchPhotos(photos: string | undefined, count = Number.POSITIVE_INFINITY): Promise<string[]> {
  const paths: string[] = [];
  for (const source of await resolveSources([photos ?? STARTER_PHOTOS], null)) {
    for await (const { path } of source.files()) paths.push(path);
  }
  return paths.sort().slice(0, count);
}
