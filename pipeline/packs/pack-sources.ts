import type { PackSource } from './pack-source.ts';
import type { SourceName } from './source-names.ts';
import { dir } from './sources/dir.ts';
import { url } from './sources/url.ts';

/** Every source by name. A manifest's addresses are checked by the source's own schema before it sees them. */
export const PACK_SOURCES: Readonly<Record<SourceName, PackSource>> = { url, dir };
