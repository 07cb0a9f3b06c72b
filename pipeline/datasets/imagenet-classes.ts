import { readFileSync } from 'node:fs';

/** A class of ImageNet, as WordNet 3.0 has it. */
export interface ImagenetClass {
  /** WordNet's lexicographer file: animal, artifact, plant, food … */
  readonly supercategory: string;
  /** All words of the synset, the usual one first. */
  readonly words: readonly string[];
}

/** The 1,000 classes by WordNet id (`n02099601`). Where they are from is said in the table's head. */
export const IMAGENET_CLASSES: ReadonlyMap<string, ImagenetClass> = new Map(
  readFileSync(new URL('imagenet-classes.tsv', import.meta.url), 'utf8')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => {
      const [wnid, supercategory, words] = line.split('\t') as [string, string, string];
      return [wnid, { supercategory, words: words.split(', ') }];
    }),
);
