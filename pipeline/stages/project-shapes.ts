import type { Stage } from '../stage.ts';

export const projectShapes: Stage<never> = {
  name: 'project-shapes',
  title: 'project-shapes',
  unit: 'projected-shapes',
  reads: [],
  fills: 'projected-shapes',
  asked: () => null,
  async estimate() {
    throw new Error('not written yet');
  },
  async *plan() {},
  async run() {
    throw new Error('not written yet');
  },
};
