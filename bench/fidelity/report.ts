import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { makeFolder } from '../../pipeline/make-folder.ts';
import { displayed, type LinearPicture } from './pictures.ts';

/** A picture of the comparison beside the one by Cycles. */
export interface Compared {
  readonly engine: string;
  readonly picture: LinearPicture;
  /** Decibels. */
  readonly psnr: number;
  readonly flip: number;
}

export interface ComparedScene {
  readonly name: string;
  readonly cycles: LinearPicture;
  readonly others: readonly Compared[];
  /** What was compared: 1. */
  readonly mask: Uint8Array;
  /** What else was measured, in a line. */
  readonly note: string;
}

/** How much differences are enlarged; no difference is mid-grey. */
const ENLARGED = 4;
const GROUND = 0.5;

/** Writes fidelity.html, which holds its pictures itself. @returns its path. */
export async function writeReport(
  folder: string,
  title: string,
  summary: readonly string[],
  scenes: readonly ComparedScene[],
): Promise<string> {
  const sections: string[] = [];
  for (const scene of scenes) sections.push(await section(scene));
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${escaped(title)}</title>
<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em; background: #fff; color: #222; }
.pictures { display: flex; flex-wrap: wrap; gap: 8px; }
figure { margin: 0; }
figcaption { font-size: 13px; color: #555; }
img { display: block; width: 256px; height: 256px; image-rendering: pixelated; }
pre { font-size: 13px; overflow-x: auto; }
</style>
<h1>${escaped(title)}</h1>
<p>sRGB, clipped, the object alone. Differences from Cycles are enlarged ${ENLARGED} times; grey is none, brighter is brighter than Cycles.</p>
<pre>${escaped(summary.join('\n'))}</pre>
${sections.join('\n')}
</html>
`;
  await makeFolder(folder);
  const path = join(folder, 'fidelity.html');
  await writeFile(path, html);
  return path;
}

async function section({ name, cycles, others, mask, note }: ComparedScene): Promise<string> {
  const reference = displayed(cycles, mask);
  const figures = [await figure(reference, mask, 'Cycles')];
  for (const { engine, picture, psnr, flip } of others) {
    const shown = displayed(picture, mask);
    figures.push(await figure(shown, mask, `${engine}: ${psnr.toFixed(1)} dB, FLIP ${flip.toFixed(3)}`));
    const difference = shown.map((value, i) => GROUND + ENLARGED * (value - reference[i]!));
    figures.push(await figure(difference, mask, `${engine} − Cycles`));
  }
  return `<h2>${escaped(name)}</h2>\n<p>${escaped(note)}</p>\n<div class="pictures">${figures.join('\n')}</div>`;
}

/** @param values RGB in 0 to 1; clipped. */
async function figure(values: Float32Array, mask: Uint8Array, caption: string): Promise<string> {
  const side = Math.sqrt(mask.length);
  const bytes = Uint8Array.from(values, (value, i) =>
    Math.round(255 * (mask[Math.floor(i / 3)] ? Math.min(1, Math.max(0, value)) : GROUND)),
  );
  const png = await sharp(bytes, { raw: { width: side, height: side, channels: 3 } })
    .png()
    .toBuffer();
  const source = `data:image/png;base64,${png.toString('base64')}`;
  return `<figure><img src="${source}" alt="${escaped(caption)}"><figcaption>${escaped(caption)}</figcaption></figure>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`);
}
