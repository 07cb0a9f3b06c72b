import type { Stage } from '../stage.ts';

export const silhouettes: Stage<never> = {
  name: 'silhouettes',
  title: 'silhouettes',
  unit: 'images',
  reads: [],
  async estimate() {
    throw new Error('not written yet');
  },
  async *plan() {},
  async run() {
    throw new Error('not written yet');
  },
};
