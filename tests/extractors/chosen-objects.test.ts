import { describe, expect, it } from 'vitest';
import { type AnnotatedMask, chooseObjects, type ObjectChoice } from '../../extractors/chosen-objects.ts';
import { tightMask } from '../../extractors/placed-mask.ts';
import { integer, pick } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import { floodAreas } from '../literal/silhouette.ts';
import { drawn, randomMask, rowsOf } from './drawn-masks.ts';

function annotated(category: string, ...rows: string[]): AnnotatedMask {
  return { ...tightMask(drawn(...rows))!, category };
}

const DOMINANT: ObjectChoice = { masks: 'objects', wholeClass: false, allInstances: false };
const names = (annotations: readonly AnnotatedMask[], choice: Partial<ObjectChoice> = {}) =>
  chooseObjects(annotations, { ...DOMINANT, ...choice }).map(({ name }) => name);

// Behind a pole: more pixels in all than the dog, in smaller parts.
const cat = annotated('cat', '###.###...', '###.###...', '###.###...');
const dog = annotated('dog', '..........', '....#####.', '....#####.');
const kitten = annotated('cat', '.........#', '.........#', '..........');

describe('the dominant object', () => {
  it('is the one with the largest contiguous area, not the one with most pixels', () => {
    expect(cat.area).toBeGreaterThan(dog.area);
    expect(names([cat, dog, kitten])).toEqual(['1']);
    expect(names([])).toEqual([]);
  });

  it('is the first of equals, whatever they have beside', () => {
    const more = annotated('dog', '#.........', '....#####.', '....#####.');
    expect(names([more, dog])).toEqual(['0']);
    expect(names([dog, more])).toEqual(['0']);
  });

  it('keeps all its parts where each mask is an object', () => {
    const [chosen] = chooseObjects([kitten, cat], DOMINANT);
    expect(chosen).toMatchObject({
      annotation: cat,
      area: 18,
      parts: 2,
      box: { left: 0, top: 0, width: 7, height: 3 },
    });
  });

  it('is a contiguous area where a mask is all of a class', () => {
    const cats = annotated('cat', '##...####.', '#....####.', '..........');
    const [chosen] = chooseObjects([cats], { ...DOMINANT, masks: 'classes' });
    expect(chosen).toMatchObject({ name: '0-1', area: 8, parts: 1, box: { left: 5, top: 0, width: 4, height: 2 } });
    expect(rowsOf(chosen!.mask)).toEqual(['####', '####']);
  });
});

describe('the whole class', () => {
  it('is all pixels of the dominant object’s class', () => {
    const [chosen] = chooseObjects([kitten, cat], { ...DOMINANT, wholeClass: true });
    expect(chosen).toMatchObject({
      annotation: cat,
      name: '1-class',
      area: 20,
      parts: 3,
      box: { left: 0, top: 0, width: 10, height: 3 },
    });
    expect(rowsOf(chosen!.mask)).toEqual(['###.###..#', '###.###..#', '###.###...']);
  });

  it('counts pixels once where objects overlap', () => {
    const [chosen] = chooseObjects([cat, { ...cat }], { ...DOMINANT, wholeClass: true });
    expect(chosen).toMatchObject({ area: 18, parts: 2 });
  });

  it('keeps a mask of a class as it is', () => {
    const [chosen] = chooseObjects([cat], { ...DOMINANT, wholeClass: true, masks: 'classes' });
    expect(chosen).toMatchObject({ area: 18, parts: 2 });
  });
});

describe('all instances', () => {
  it('come by their largest contiguous areas, as the dominant object is chosen', () => {
    expect(names([kitten, cat, dog], { allInstances: true })).toEqual(['2', '1', '0']);
    expect(names([cat, dog], { allInstances: true, masks: 'classes' })).toEqual(['1-0', '0-0', '0-1']);
  });

  it('of whole classes are the classes', () => {
    expect(names([kitten, cat, dog], { allInstances: true, wholeClass: true })).toEqual(
      ['2', '1-class'].map(n => (n === '2' ? '2-class' : n)),
    );
  });
});

describe('on random masks', () => {
  it('the dominant object is the first of all, and has the largest area of a flood fill', () => {
    const random = rng(1, 'tests', 'chosen objects');
    for (let i = 0; i < 200; i++) {
      const annotations = Array.from(
        { length: integer(random, 1, 6) },
        (): AnnotatedMask => ({
          ...tightMask(randomMask(random, 24, 18))!,
          category: pick(random, ['cat', 'dog']),
        }),
      );
      for (const masks of ['objects', 'classes'] as const) {
        const [first] = chooseObjects(annotations, { ...DOMINANT, masks });
        expect(first).toEqual(chooseObjects(annotations, { ...DOMINANT, masks, allInstances: true })[0]);
        const largest = annotations.map(({ mask }) => Math.max(...floodAreas(mask).map(area => area.length)));
        expect(first!.annotation).toBe(annotations[largest.indexOf(Math.max(...largest))]);
        if (masks === 'classes') expect(first!.area).toBe(Math.max(...largest));
        expect(first!.parts).toBe(floodAreas(first!.mask).length);
      }
    }
  });
});
