import { homedir } from 'node:os';
import { join } from 'node:path';

/** $SHAPEMILL_CACHE, else $XDG_CACHE_HOME/shapemill, else ~/.cache/shapemill. Empty variables count as unset. */
export function defaultCacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env.SHAPEMILL_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'shapemill');
}
