import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listPacks } from '../../pipeline/packs/pack-store.ts';

const DOOR = fileURLToPath(new URL('../../bin/shapemill.cjs', import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shapemill-doctor-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** What `doctor` says about each thing, and its exit code. */
async function doctor(args: string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [DOOR, 'doctor', ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', part => {
    text += part;
  });
  const code = await new Promise(resolve => child.on('close', resolve));
  const about = (what: string) => text.split('\n').find(line => line.slice(2).startsWith(`${what} `)) ?? '';
  return { code, text, about };
}

describe.concurrent('doctor', () => {
  it('says what draws, what is kept and which packs are here', async () => {
    const kept = join(folder, 'cache');
    const { code, text, about } = await doctor([], { SHAPEMILL_CACHE: kept });
    expect(code, text).toBe(0);
    expect(about('browser')).toMatch(/^✓ .*\/\d+\..* \((named|installed|downloaded by puppeteer|from npm): \//);
    expect(about('WebGL')).toMatch(/^[✓!] .* (vulkan|egl|swiftshader), .*: (software|hardware)$/);
    expect(about('WebGL').startsWith('!')).toBe(about('WebGL').endsWith('software'));
    expect(about('graphics card')).toContain('drivers for EGL');
    expect(about('cache')).toContain(`${kept}, empty`);
    for (const { pack } of await listPacks()) expect(about(pack.id)).toContain(pack.title);
  });

  it('takes a missing browser as a finding, and says how to get one', async () => {
    const { code, text, about } = await doctor(['--browser', join(folder, 'nowhere')]);
    expect(code, text).toBe(0);
    expect(about('browser')).toMatch(/^! .*expected a Chrome or Chromium that can be run, got ".*nowhere"/);
    expect(text).toContain('→ 3D subsets cannot be made');
    expect(about('WebGL')).toBe('');
  });

  it('takes a browser that does not start as one too', async () => {
    const broken = join(folder, 'broken-browser');
    const script = '#!/bin/sh\n[ "$1" = --version ] && echo "Chromium 1.0" && exit 0\nexit 1\n';
    await writeFile(broken, script, { mode: 0o755 });
    const { code, text, about } = await doctor([], { SHAPEMILL_BROWSER: broken });
    expect(code, text).toBe(0);
    expect(about('browser')).toContain(`named: ${broken}`);
    expect(about('WebGL')).toMatch(/^! .*does not draw with WebGL 2 \(.*egl: .*swiftshader: /);
  });
});
