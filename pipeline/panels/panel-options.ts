import { PANEL_CONDITION_NAMES, REAL_CONDITION } from '../../scenes/panel-conditions.ts';
import { GENERATE_OPTIONS } from '../generate-options.ts';
import { listOf, text, wholeNumber } from '../options.ts';

const what = 'What to make';

/** Every option of `panels`; what concerns the machine is as in `generate`. */
export const PANEL_OPTIONS = {
  'per-condition': wholeNumber(1, 100_000, { group: what, default: '500', help: 'tests of each condition' }),
  conditions: listOf([...PANEL_CONDITION_NAMES, REAL_CONDITION], {
    group: what,
    default: 'all but real; real, too, with --real',
    help: 'columns of LAS&T’s Tables 1 to 4',
  }),
  seed: wholeNumber(0, Number.MAX_SAFE_INTEGER, {
    group: what,
    default: 'that of the run',
    help: 'seed of every random choice',
  }),
  real: text('a folder with a folder of photographs for each object', {
    group: what,
    help: 'tests from photographs: a folder with a folder for each object, two photographs or more in each',
  }),
  workers: GENERATE_OPTIONS.workers,
  browser: GENERATE_OPTIONS.browser,
  gl: GENERATE_OPTIONS.gl,
  'require-gpu': GENERATE_OPTIONS['require-gpu'],
  pages: GENERATE_OPTIONS.pages,
} as const;
