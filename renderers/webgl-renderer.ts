/** What a WebGL renderer's name tells, in the page and in Node. */

/** Whether it is that of a program and no graphics card. */
export function isSoftware(webglRenderer: string): boolean {
  return isSwiftShader(webglRenderer) || /llvmpipe|lavapipe|softpipe|basic render/i.test(webglRenderer);
}

/** Whether it is that of Chromium's own program, the slowest of them. */
export function isSwiftShader(webglRenderer: string): boolean {
  return /swiftshader/i.test(webglRenderer);
}
