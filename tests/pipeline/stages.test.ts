import { expect, it } from 'vitest';
import { STAGE_NAMES } from '../../pipeline/stage-names.ts';
import { STAGES } from '../../pipeline/stages.ts';

// Where a worker thread looks for it.
it.each(STAGE_NAMES)('%s is exported under its own name by the file of that name', async name => {
  const exported = Object.values(await import(`../../pipeline/stages/${name}.ts`));
  expect(exported.filter(value => (value as { name?: string }).name === name)).toEqual([STAGES[name]]);
});
