import type { Stage } from '../stage.ts';

export const outlineShapes: Stage<never> = {
  name: 'outline-shapes',
  title: 'outline-shapes',
  unit: 'semantic-shapes',
  reads: [],
  fills: 'semantic-shapes',
  asked: () => null,
  async estimate() {
    throw new Error('not written yet');
  },
  async *plan() {},
  async run() {
    throw new Error('not written yet');
  },
};
