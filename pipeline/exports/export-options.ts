import { SUBSETS } from '../generate-options.ts';
import { choice, listOf, text } from '../options.ts';
import { EXPORT_FORMATS } from './exporter.ts';

const what = 'What to write';

/** Every option of `export`. */
export const EXPORT_OPTIONS = {
  format: choice(EXPORT_FORMATS, { group: what, help: 'form that trainers and model testers read' }),
  out: text('a folder', {
    group: what,
    default: 'RUN-FORMAT, beside the run',
    help: 'an empty folder, or an export of the same that was interrupted: it continues',
  }),
  subsets: listOf([...SUBSETS, 'shapes'], {
    group: what,
    default: 'all that the run and the format have',
    help: 'only these; of panel tests those of the subset’s conditions; shapes: the banks of shapes (folders)',
  }),
} as const;
