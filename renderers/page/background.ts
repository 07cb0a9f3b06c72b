import { BufferAttribute, BufferGeometry, Matrix3, Matrix4, Quaternion, ShaderMaterial, type Texture } from 'three';
import { halfField, type Scene3d } from '../../scenes/scene3d.ts';

/** One triangle that fills the view. */
export function backdropGeometry(): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));
  return geometry;
}

/** The panorama behind everything, as uniforms of the shaders that look it up with {@link BACKGROUND}. */
export class Background {
  readonly uniforms = {
    panorama: { value: null as Texture | null },
    toPanorama: { value: new Matrix3() },
    field: { value: 1 },
    strength: { value: 1 },
  };

  show(panorama: Texture, { environment, camera }: Scene3d): void {
    const fromScene = new Quaternion(...environment.rotation).invert();
    this.uniforms.panorama.value = panorama;
    this.uniforms.toPanorama.value.setFromMatrix4(new Matrix4().makeRotationFromQuaternion(fromScene));
    this.uniforms.field.value = halfField(camera);
    this.uniforms.strength.value = environment.strength;
  }
}

/** `background(place)`: the panorama's radiance at a place of the view, −1 to 1 from left to right and from bottom to top. */
export const BACKGROUND = /* glsl */ `
uniform sampler2D panorama;
uniform mat3 toPanorama;
uniform float field;
uniform float strength;
vec3 background(vec2 place) {
  vec3 direction = toPanorama * normalize(vec3(field * place, -1.0));
  return strength * textureLod(panorama, equirectUv(direction), 0.0).rgb;
}
`;

/** Draws the background into the scene, where it has to be seen through the object. Alpha stays 0: it covers nothing. */
export class BackdropMaterial extends ShaderMaterial {
  constructor(background: Background) {
    super({
      uniforms: background.uniforms,
      vertexShader: /* glsl */ `
varying vec2 place;
void main() {
  place = position.xy;
  gl_Position = vec4(place, 1.0, 1.0);
}
`,
      fragmentShader: /* glsl */ `
#include <common>
${BACKGROUND}
varying vec2 place;
void main() {
  gl_FragColor = vec4(background(place), 0.0);
}
`,
      depthTest: false,
      depthWrite: false,
    });
  }
}
