import type { Sample2dLabel, Sample3dLabel } from '../labels.ts';
import { SPLITS } from '../splits.ts';
import { type Axis, colourPlane, hemispheres, histogram, swatches } from './charts.ts';
import { grouped, paragraph, section } from './html.ts';
import { MOST_LABELS, MOST_PICTURES, type SampleFacts, type SampleLabel } from './sample-facts.ts';
import { CELLS, coveredCells, expectedCells, viewDirection } from './sphere-cover.ts';

const percent = (value: number) => `${grouped(100 * value)} %`;
const SHARE: Axis = { low: 0, high: 1, bins: 25, text: percent };
const TURN: Axis = { low: 0, high: 360, bins: 24, text: value => `${grouped(value)}°` };

const grid = (figures: readonly string[]) =>
  figures.length === 0 ? '' : `<div class="grid">${figures.join('\n')}</div>`;

/** Which share of the images is looked at. */
const some = (looked: number, all: number) => `${grouped(looked)} of ${grouped(all)} images`;

/** How many of the images the charts of their labels are of. */
function labelsRead(facts: readonly SampleFacts[]): string {
  const each = facts.map(({ subset, labels, images }) => `${subset} ${some(labels.length, images)}`);
  return `Charts are of at most about ${MOST_LABELS} images of each split: ${each.join(', ')}.`;
}

/** Colours of the images. */
export function colourSection(facts: readonly SampleFacts[]): string {
  const coloured = facts.filter(({ colours }) => colours.length > 0);
  return section(
    'colours',
    'Colours',
    coloured.length === 0
      ? ''
      : paragraph(
          `Images by their mean colour, in CIE Lab: a* (green to red) to the right, b* (blue to yellow) up. At most about ${MOST_PICTURES / SPLITS.length} images of each split are opened for this.`,
        ),
    grid(coloured.map(({ subset, images, colours }) => colourPlane(subset, some(colours.length, images), colours))),
    grid(coloured.map(({ subset, colours }) => swatches(subset, colours))),
  );
}

/** How large what is looked for is in the images. */
export function scaleSection(facts: readonly SampleFacts[]): string {
  const figures = facts.flatMap(({ subset, labels }) => [
    histogram(`${subset}, coverage`, labels.map(coverageOf), { ...SHARE, high: niceShare(labels.map(coverageOf)) }),
    histogram(`${subset}, longer side of the box`, labels.map(longSideOf), SHARE),
  ]);
  return section(
    'scales',
    'Scales',
    figures.length === 0
      ? ''
      : paragraph(
          'Shares of the image: its area, and its longer side. Of silhouettes, of the picture that the object was cut from. ' +
            labelsRead(facts),
        ),
    grid(figures),
  );
}

/** Which way shapes are turned, and from where objects are seen. */
export function rotationSection(facts: readonly SampleFacts[]): string {
  const turns = facts.flatMap(({ subset, labels }) => {
    const flat = labels.filter(is2d).map(({ scene }) => scene.placement.rotation);
    return flat.length === 0 ? [] : [histogram(`${subset}, rotation of the shape`, flat, TURN)];
  });
  const spheres = facts.flatMap(({ subset, labels }) => {
    const directions = labels.filter(is3d).map(({ scene }) => viewDirection(scene.object.rotation));
    if (directions.length === 0) return [];
    const caption =
      `where the camera is as the object sees it: ${grouped(directions.length)} views reach ${coveredCells(directions)} of ${CELLS} equal parts ` +
      `of the sphere (uniform ones: ${expectedCells(directions.length).toFixed(0)})`;
    return [hemispheres(subset, caption, directions)];
  });
  const turned = facts.filter(({ labels }) => labels.some(label => is2d(label) || is3d(label)));
  const of = turned.length === 0 ? '' : paragraph(labelsRead(turned));
  return section('rotations', 'Rotations', of, grid(turns), grid(spheres));
}

const is2d = (label: SampleLabel): label is Sample2dLabel => 'scene' in label && 'placement' in label.scene;
const is3d = (label: SampleLabel): label is Sample3dLabel => 'scene' in label && 'object' in label.scene;

function coverageOf(label: SampleLabel): number {
  if ('facts' in label) return label.facts.coverage;
  return label.object.area / (label.picture.width * label.picture.height);
}

function longSideOf(label: SampleLabel): number {
  if ('facts' in label) return Math.max(label.facts.box.width, label.facts.box.height) / label.scene.size;
  const { object, picture } = label;
  return Math.max(object.box.width / picture.width, object.box.height / picture.height);
}

/** The share, in steps of a tenth, that none of them is above. */
function niceShare(shares: readonly number[]): number {
  return Math.max(1, Math.ceil(10 * shares.reduce((a, b) => Math.max(a, b), 0))) / 10;
}
