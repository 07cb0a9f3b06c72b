import { crc32, deflateRawSync } from 'node:zlib';

/** A zip archive of small files, each deflated or stored, with a Unix mode where one is given. */
export function smallZip(files: readonly { path: string; bytes: Buffer; stored?: boolean; mode?: number }[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { path, bytes, stored = false, mode } of files) {
    const name = Buffer.from(path);
    const packed = stored ? bytes : deflateRawSync(bytes);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(stored ? 0 : 8, 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, packed]);
    const tail = Buffer.alloc(14);
    if (mode !== undefined) tail.writeUInt32LE(mode * 0x1_0000, 6);
    tail.writeUInt32LE(at, 10);
    const madeBy = mode === undefined ? '\x14\x00' : '\x14\x03';
    directory.push(Buffer.concat([Buffer.from(`PK\x01\x02${madeBy}`, 'latin1'), common, tail, name]));
    parts.push(local);
    at += local.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, entries, end]);
}
