/** What `--gl` takes: how the browser reaches the graphics hardware. */
export const GL_BACK_ENDS = ['auto', 'vulkan', 'egl', 'swiftshader'] as const;
export type GlBackEnd = (typeof GL_BACK_ENDS)[number];
