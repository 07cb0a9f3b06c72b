import type { GreyImage, RgbImage } from '../../extractors/image.ts';
import { coverageFacts } from '../../renderers/coverage.ts';
import type { Check, Picture, Sample } from './check.ts';
import { greyOf } from './decode-picture.ts';

/** Standard deviation of every colour channel below which a picture shows nothing, of 255. */
const FLAT = 0.5;
/** Share of the textures of a bank that may be of one colour before it is told: photos of skies and walls give a few. */
const MOST_FLAT = 0.1;
/** Share of an object's pixels that may be black all over: what a renderer makes of NaN is black. */
const BLACK = 0.98;

/** Pictures show something, and masks what is in them. Masks that fill their picture and maps of one value may be meant. */
export const blank: Check = {
  name: 'blank',
  holds: 'no picture is black, blank or without its object',

  begin(_, tell) {
    let [textures, flat] = [0, 0];
    return {
      sample(sample, { path: file }) {
        const { key, pictures, label } = sample;
        for (const field of ['jpg', 'hq.jpg']) {
          const picture = pictures.get(field);
          const [mean, deviation] = picture ? spread(picture) : [Number.NaN, Number.NaN];
          const isTexture = label?.form === 'texture-bank-item';
          if (isTexture) textures++;
          if (!(deviation < FLAT)) continue;
          const detail = `${field}: mean ${mean.toFixed(1)}, deviation ${deviation.toFixed(2)}`;
          // A photo may be white over all of a crop, and the rule for textures lets it pass; a scene never is.
          if (isTexture) flat++;
          else tell({ severity: 'error', kind: mean < 1 ? 'a black picture' : 'a blank picture', file, key, detail });
        }
        const silhouette = greyOf(sample, 'silhouette.png');
        if (silhouette && label?.form === 'silhouettes-sample') {
          const ground = label.value.silhouette.polarity === 'white-on-black' ? 0 : 255;
          if (silhouette.data.every(value => value === ground))
            tell({ severity: 'error', kind: 'an empty mask', file, key });
        }
        const mask = greyOf(sample, 'mask.png');
        if (mask && coverageFacts(mask).area === 0) tell({ severity: 'error', kind: 'an empty mask', file, key });
        const black = mask && blackShare(sample, mask);
        if (black !== undefined && black > BLACK) {
          const detail = `${(100 * black).toFixed(1)} % of its pixels`;
          tell({ severity: 'warning', kind: 'a black object', file, key, detail });
        }
      },
      end() {
        if (flat <= MOST_FLAT * textures) return;
        const detail = `${flat} of ${textures}`;
        tell({ severity: 'warning', kind: 'many textures of one colour', file: 'banks/textures', detail });
      },
    };
  },
};

const colourOf = (picture: Picture | undefined) =>
  picture && 'pixels' in picture && 'colour' in picture.pixels ? picture.pixels.colour : undefined;

/** Mean of all channels, and the standard deviation of the channel that changes most; of a broken picture, or one of 16 bits, no number. */
export function spread(picture: Picture): [mean: number, deviation: number] {
  if (!('pixels' in picture) || 'deep' in picture.pixels) return [Number.NaN, Number.NaN];
  const [{ data }, channels] = 'grey' in picture.pixels ? [picture.pixels.grey, 1] : [picture.pixels.colour, 3];
  const count = data.length / channels;
  let total = 0;
  let widest = 0;
  for (let channel = 0; channel < channels; channel++) {
    let [sum, squares] = [0, 0];
    for (let i = channel; i < data.length; i += channels) {
      const value = data[i]!;
      sum += value;
      squares += value * value;
    }
    total += sum;
    widest = Math.max(widest, squares / count - (sum / count) ** 2);
  }
  return [total / data.length, Math.sqrt(widest)];
}

/** Share of an object's pixels that are black; undefined where none of the shrunk picture's lies wholly in it, and of 2D. */
function blackShare({ label, pictures }: Sample, mask: GreyImage): number | undefined {
  const picture = colourOf(pictures.get('jpg'));
  if (!picture || (label?.form !== 'shapes3d-sample' && label?.form !== 'materials3d-sample')) return undefined;
  return shareInside(picture, mask, (r, g, b) => Math.max(r, g, b) <= 2);
}

/** Share of the pixels of a shrunk picture within a mask for which something holds. */
function shareInside(
  { data, width, height }: RgbImage,
  mask: GreyImage,
  holds: (r: number, g: number, b: number) => boolean,
): number | undefined {
  let [inside, found] = [0, 0];
  for (let y = 0; y < height; y++) {
    const row = Math.floor(((y + 0.5) * mask.height) / height) * mask.width;
    for (let x = 0; x < width; x++) {
      if (mask.data[row + Math.floor(((x + 0.5) * mask.width) / width)]! < 255) continue;
      const at = 3 * (y * width + x);
      inside++;
      if (holds(data[at]!, data[at + 1]!, data[at + 2]!)) found++;
    }
  }
  return inside === 0 ? undefined : found / inside;
}
