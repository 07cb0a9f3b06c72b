import { choice, list, type OptionTable, text, wholeNumber } from '../options.ts';
import { PACK_KINDS } from './manifest.ts';

const group = 'What to add';
const whole = Number.MAX_SAFE_INTEGER;

/** Options of `assets add`: flag, check, default and help together. */
export const ADD_OPTIONS = {
  count: wholeNumber(1, whole, { group, help: 'so many items, a fair sample of what there is', default: 'all' }),
  'per-category': wholeNumber(1, whole, { group, help: 'at most so many of each category, where a source has them' }),
  seed: wholeNumber(0, whole, { group, help: 'another seed is another sample', default: '1' }),
  licences: list('SPDX licences such as CC-BY-4.0', { group, help: 'only items under these licences' }),
  resolution: choice(['1k', '2k', '4k', '8k', '16k'], {
    group,
    help: 'of panoramas and textures, where a source has several',
  }),
  subsets: list('parts of the source by its own names, such as train', {
    group,
    help: 'only these parts of the source',
  }),
  'near-duplicates': wholeNumber(0, 8, {
    group,
    help: 'of photos whose 64-bit perceptual hashes differ in at most so many bits, use one; 6 finds scaled and recompressed copies',
    default: 'all are used',
  }),
} satisfies OptionTable;

const own = 'Packs of your own (url, dir)';

/** Of packs that no manifest tells of. */
export const OWN_PACK_OPTIONS = {
  as: text('lower-case letters, digits and single dashes', {
    group: own,
    help: "the pack's id",
    default: 'from the name of the list or folder',
  }),
  kind: choice(PACK_KINDS, { group: own, help: 'what the files are', default: 'photos' }),
  licence: text('an SPDX licence', {
    group: own,
    help: 'of files about which nothing else tells',
    default: 'not known',
  }),
  author: text('a name', { group: own, help: 'of files about which nothing else tells', default: 'not known' }),
} satisfies OptionTable;

export const ATTRIBUTION_OPTIONS = {
  out: text('a file name', { group: 'Options', help: 'write the list there', default: 'standard output' }),
} satisfies OptionTable;
