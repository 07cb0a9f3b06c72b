// What the kernel needs of an interface that @types/node leaves out, and that lib.dom has only together with a whole browser.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    readonly exports: Readonly<Record<string, unknown>>;
    constructor(module: Module);
  }
  interface Memory {
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
}
