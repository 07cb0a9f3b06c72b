/** The one way to the kernel: WebAssembly with SIMD, written in AssemblyScript (assembly/). */
import { readFileSync } from 'node:fs';

export interface KernelMemory {
  readonly memory: WebAssembly.Memory;
}

const code = new WebAssembly.Module(readFileSync(new URL('./kernel.wasm', import.meta.url)));

/** The kernel with a memory of its own, in which nothing else is laid over what its holder works on. */
export function instantiate<Kernel extends KernelMemory>(): Kernel {
  return new WebAssembly.Instance(code).exports as unknown as Kernel;
}

const shared = instantiate();

/** The kernel that all of a thread may use whose work is done, and taken out of the memory, when their function returns. */
export function sharedKernel<Kernel extends KernelMemory>(): Kernel {
  return shared as Kernel;
}

const PAGE = 1 << 16;

/** Sees to it that a kernel has so many bytes of memory. What it held stays; views of it do not. */
export function reserve({ memory }: KernelMemory, bytes: number): void {
  const missing = bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
}

/** Bytes of a kernel's memory, until it grows. @param address may come as a signed number. */
export function bytesAt({ memory }: KernelMemory, address: number, length: number): Uint8Array {
  return new Uint8Array(memory.buffer, address >>> 0, length);
}
