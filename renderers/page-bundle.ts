import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The render page's program as one script, bundled anew for every start: it takes half a second. */
export async function bundlePage(): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./page/main.tsx', import.meta.url))],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    minify: true,
    write: false,
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  });
  return outputFiles[0]!.contents;
}
