import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RenderHost } from '../renderers/render-host.ts';
import { browserProcesses } from '../tests/renderers/3d/browser-processes.ts';
import type { BenchSettings } from './measure.ts';
import { runScenes3d, Scenes3d } from './scenes3d.ts';

const SIZE = 256;

/** Draws images in one page and watches the memory of the browser's processes: it must not grow with their number. */
export async function soak3d({ count = 2000, browser }: BenchSettings): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'shapemill-soak3d-'));
  const drawing = { requireGpu: false, browser };
  try {
    console.log('preparing banks …');
    await runScenes3d(folder, { textures: 50, materials: 50, 'shapes3d-images': 60, 'materials3d-images': 0 }, drawing);
    const scenes = await Scenes3d.start(folder, SIZE, drawing);
    let first = 0;
    for (let i = 1; i <= count; i++) {
      await scenes.next();
      if (i % 200 !== 0) continue;
      const bytes = await residentBytes(scenes.host);
      first ||= bytes;
      console.log(
        `${String(i).padStart(6)} images  browser ${(bytes / 1e6).toFixed(0)} MB  ${(bytes / first).toFixed(2)} × the first`,
      );
    }
    await scenes.host.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Memory of the GPU process and the pages together; shared pages count once (PSS). */
async function residentBytes(host: RenderHost): Promise<number> {
  const processes = [...(await browserProcesses(host, 'gpu-process')), ...(await browserProcesses(host, 'renderer'))];
  let kilobytes = 0;
  for (const pid of processes) {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    kilobytes += Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
  }
  return 1024 * kilobytes;
}
