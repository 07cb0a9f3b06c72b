import { describe, expect, it } from 'vitest';
import { readZip } from '../../../pipeline/packs/zip.ts';
import { smallZip } from './small-zip.ts';

const hello = Buffer.from('hello hello hello hello');

describe('readZip', () => {
  it('lists files, stored and deflated, and passes over folders', () => {
    const files = readZip(
      smallZip([
        { path: 'folder/', bytes: Buffer.alloc(0), stored: true },
        { path: 'folder/a.obj', bytes: hello },
        { path: 'b.txt', bytes: hello, stored: true },
        { path: 'empty', bytes: Buffer.alloc(0) },
      ]),
    );
    expect(files.map(({ path }) => path)).toEqual(['folder/a.obj', 'b.txt', 'empty']);
    expect(files.map(file => file.read().toString())).toEqual([hello.toString(), hello.toString(), '']);
  });

  it.each(['../a', '/a', 'a/../../b', 'a//b'])('refuses the path %s', path => {
    expect(() => readZip(smallZip([{ path, bytes: hello }]))).toThrow(`got "${path}"`);
  });

  it('refuses what is no archive, is cut, or says a wrong size', () => {
    const whole = smallZip([{ path: 'a', bytes: hello }]);
    expect(() => readZip(Buffer.from('no archive'))).toThrow('found no directory');
    expect(() => readZip(whole.subarray(0, whole.length - 30))).toThrow('found no directory');
    expect(() => readZip(whole.subarray(10))).toThrow('found none');
    const changed = Buffer.from(whole);
    changed.writeUInt32LE(5, whole.indexOf('PK\x01\x02', 'latin1') + 24);
    expect(() => readZip(changed)[0]!.read()).toThrow();
    changed.writeUInt32LE(500, whole.indexOf('PK\x01\x02', 'latin1') + 24);
    expect(() => readZip(changed)[0]!.read()).toThrow('Expected 500 bytes of a, got 23');
  });
});
