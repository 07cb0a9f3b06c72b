import type { PackItem, PackSource, SourceOptions } from '../../../../pipeline/packs/pack-source.ts';
import { testContext } from '../pack-server.ts';

/** All items that a source tells of, by way of the real fetcher. @param addresses as a manifest has them. */
export async function itemsOf(
  source: PackSource,
  addresses: unknown,
  options: SourceOptions = {},
): Promise<PackItem[]> {
  const { context, close } = await testContext(options);
  const items: PackItem[] = [];
  try {
    for await (const item of source.items(source.addresses.parse(addresses), context)) items.push(item);
  } finally {
    await close();
  }
  return items;
}
