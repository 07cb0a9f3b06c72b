/** One file of a container built by hand. */
export interface SmallFile {
  readonly name: string;
  readonly stored: Buffer;
  readonly flags?: number;
}

const DIRECTORY = 2;

/** An rcc container that holds one folder of files. */
export function smallRcc(folder: string, files: readonly SmallFile[], version = 3): Buffer {
  const names: Buffer[] = [];
  const data: Buffer[] = [];
  const nodes = [
    node(version, 0, DIRECTORY, 1, 1),
    node(version, append(names, nameOf(folder)), DIRECTORY, files.length, 2),
    ...files.map(({ name, stored, flags = 0 }) =>
      node(version, append(names, nameOf(name)), flags, 0, append(data, Buffer.concat([u32(stored.length), stored]))),
    ),
  ];
  const tree = Buffer.concat(nodes);
  const header = version === 3 ? 24 : 20;
  const offsets = [header, header + tree.length, header + tree.length + Buffer.concat(data).length];
  const flags = version === 3 ? [u32(0)] : [];
  return Buffer.concat([Buffer.from('qres'), u32(version), ...offsets.map(u32), ...flags, tree, ...data, ...names]);
}

/** Appends a part and returns the offset it starts at. */
function append(parts: Buffer[], part: Buffer): number {
  const offset = Buffer.concat(parts).length;
  parts.push(part);
  return offset;
}

function node(version: number, name: number, flags: number, third: number, fourth: number): Buffer {
  const time = version === 1 ? 0 : 8;
  return Buffer.concat([u32(name), u16(flags), u32(third), u32(fourth), Buffer.alloc(time)]);
}

function nameOf(text: string): Buffer {
  return Buffer.concat([u16(text.length), u32(0), Buffer.from(text, 'utf16le').swap16()]);
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function u16(value: number): Buffer {
  return u32(value).subarray(2);
}
