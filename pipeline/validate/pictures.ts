import { decodeMesh, VERTEX_COMPONENTS } from '../../scenes/mesh-format.ts';
import { readPackedPanorama } from '../../scenes/panorama-format.ts';
import { AOV_FIELDS } from '../rendering.ts';
import type { Check, Sample, ValidLabel } from './check.ts';

/** Every file can be decoded, and is of the size that its label says. */
export const pictures: Check = {
  name: 'pictures',
  holds: 'files can be decoded and are as large as their labels say',

  begin(_, tell) {
    return {
      sample(sample, { path: file }) {
        const { key, label, pictures: decoded } = sample;
        const error = (kind: string, detail: string) => tell({ severity: 'error', kind, file, key, detail });
        for (const [field, picture] of decoded) {
          if ('broken' in picture) {
            error('cannot be decoded', `${field}: ${picture.broken}`);
            continue;
          }
          const wanted = label && sizeOf(field, label);
          const { width, height, channels, bits } = picture;
          if (wanted && (width !== wanted.width || height !== wanted.height)) {
            error(
              'of another size than its label says',
              `${field}: ${width}×${height}, not ${wanted.width}×${wanted.height}`,
            );
          }
          const colour = isColour(field);
          if (colour !== undefined && channels !== (colour ? 3 : 1)) {
            error('of another number of channels', `${field}: ${channels}, not ${colour ? 3 : 1}`);
          }
          const deep = Object.values<string>(AOV_FIELDS).includes(field) ? 16 : 8;
          if (label && 'scene' in label.value && bits !== deep) {
            error('of another number of bits', `${field}: ${bits} a channel, not ${deep}`);
          }
        }
        const fault = meshFault(sample) ?? panoramaFault(sample);
        if (fault) error('cannot be decoded', fault);
      },
    };
  },
};

/** Size of a picture file; undefined where a label says nothing of it. */
function sizeOf(field: string, label: ValidLabel): { width: number; height: number } | undefined {
  const { value } = label;
  if ('hq' in value) return { 'hq.jpg': value.hq }[field] ?? value.silhouette;
  if ('scene' in value) return { width: value.scene.size, height: value.scene.size };
  return 'width' in value ? value : undefined;
}

/** Whether a picture has three channels or one; undefined where it may have either. */
function isColour(field: string): boolean | undefined {
  // A picture's own file may be grey.
  if (field === 'hq.jpg') return undefined;
  return ['jpg', 'color.jpg', 'normal.jpg', AOV_FIELDS.normal].includes(field);
}

function meshFault({ files, label }: Sample): string | undefined {
  const bytes = files.get('mesh');
  if (!bytes) return undefined;
  try {
    const { triangles, positions } = decodeMesh(new Uint8Array(bytes));
    if (label?.form !== 'mesh-bank-item') return undefined;
    if (triangles !== label.value.triangles) return `mesh: ${triangles} triangles, not ${label.value.triangles}`;
    const vertices = positions.length / VERTEX_COMPONENTS;
    return vertices === label.value.vertices ? undefined : `mesh: ${vertices} vertices, not ${label.value.vertices}`;
  } catch (error) {
    return `mesh: ${(error as Error).message}`;
  }
}

function panoramaFault({ files, label }: Sample): string | undefined {
  const bytes = files.get('rgb9e5');
  if (!bytes) return undefined;
  try {
    const { width, height } = readPackedPanorama(new Uint8Array(bytes));
    if (label?.form !== 'environment-bank-item') return undefined;
    const { value } = label;
    if (width === value.width && height === value.height) return undefined;
    return `rgb9e5: ${width}×${height}, not ${value.width}×${value.height}`;
  } catch (error) {
    return `rgb9e5: ${(error as Error).message}`;
  }
}
