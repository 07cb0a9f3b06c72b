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

const PAGE = 1 << 16;

/** Sees to it that a kernel has so many bytes of memory. What it held stays; views of it do not. */
export function reserve({ memory }: KernelMemory, bytes: number): void {
  const missing = bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
}
