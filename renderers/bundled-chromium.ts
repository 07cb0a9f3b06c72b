import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { defaultCacheFolder } from './cache-place.ts';

/** The Chromium that the optional npm package brings. It has SwiftShader only, and needs nothing installed. */
export interface BundledChromium {
  readonly path: string;
  /** Libraries and fonts it brought, where the system lacks them. */
  readonly environment: Readonly<Record<string, string>>;
}

const PACKAGE = '@sparticuz/chromium';
const run = promisify(execFile);

/**
 * Unpacks the package's Chromium into the user's cache folder, once; it is 190 MB. Under another name first: of two processes
 * that do so at once, none finds half of it. The package itself would unpack into the folder for temporary files, where it is
 * taken for complete when it is not.
 * @returns undefined when the package is not there or made for another system.
 */
export async function bundledChromium(): Promise<BundledChromium | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const version = await packageVersion();
  if (version === undefined) return undefined;
  const folder = join(defaultCacheFolder(), `chromium-${version}`);
  if (!(await exists(join(folder, 'chromium')))) {
    await unpack(folder).catch(error => {
      const reason = (error as Error).message.split('\n')[0];
      throw new Error(
        `npm's Chromium cannot be unpacked into ${folder} (${reason}): set SHAPEMILL_CACHE to a folder that can be written ` +
          'to and has room for 200 MB, or install Chrome',
      );
    });
  }
  const path = join(folder, 'chromium');
  const libraries = (await lacksLibraries(path)) ? { LD_LIBRARY_PATH: join(folder, 'al2023', 'lib') } : {};
  return { path, environment: { FONTCONFIG_PATH: join(folder, 'fonts'), ...libraries } };
}

async function packageVersion(): Promise<string | undefined> {
  try {
    const entry = createRequire(import.meta.url).resolve(PACKAGE);
    const root = entry.slice(0, entry.lastIndexOf(PACKAGE) + PACKAGE.length);
    return JSON.parse(await readFile(join(root, 'package.json'), 'utf8')).version;
  } catch {
    return undefined;
  }
}

async function unpack(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const partial = await mkdtemp(`${folder}.partial-`);
  try {
    // A process of its own: the package decides by the environment where it unpacks, and whether its libraries too.
    const script = `import(${JSON.stringify(PACKAGE)}).then(({ default: chromium }) => chromium.executablePath())`;
    await run(process.execPath, ['-e', script], {
      cwd: dirname(new URL(import.meta.url).pathname),
      env: {
        ...process.env,
        TMPDIR: partial,
        AWS_EXECUTION_ENV: `AWS_Lambda_nodejs${process.versions.node.split('.')[0]}.x`,
      },
    });
    await rename(partial, folder).catch(async error => {
      // Another process was first.
      if (!(await exists(join(folder, 'chromium')))) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Whether the dynamic linker finds all that a program needs. */
async function lacksLibraries(path: string): Promise<boolean> {
  const { stdout } = await run('ldd', [path]).catch(() => ({ stdout: '' }));
  return stdout.includes('not found');
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
