/** The part of draco3dgltf that is used here; the package has no types of its own. */
declare module 'draco3dgltf' {
  const draco3d: {
    /** A new decoder in a WebAssembly memory of its own, as glTF-Transform takes it. */
    createDecoderModule(): Promise<object>;
    createEncoderModule(): Promise<object>;
  };
  export default draco3d;
}
