import { BufferAttribute, BufferGeometry, Matrix3, Matrix4, Quaternion, ShaderMaterial, type Texture } from 'three';
import { halfField, type Scene3d } from '../../scenes/scene3d.ts';

/** One triangle that fills the view. */
export function backdropGeometry(): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));
  return geometry;
}

/** Draws the panorama behind everything, with alpha 0: alpha of the picture is then the object's coverage. */
export class BackgroundMaterial extends ShaderMaterial {
  constructor() {
    super({
      uniforms: {
        panorama: { value: null },
        turn: { value: new Matrix3() },
        field: { value: 1 },
        strength: { value: 1 },
      },
      vertexShader: /* glsl */ `
uniform mat3 turn;
uniform float field;
varying vec3 direction;
void main() {
  direction = turn * vec3(field * position.xy, -1.0);
  gl_Position = vec4(position.xy, 1.0, 1.0);
}
`,
      fragmentShader: /* glsl */ `
#include <common>
uniform sampler2D panorama;
uniform float strength;
varying vec3 direction;
void main() {
  vec2 place = equirectUv(normalize(direction));
  gl_FragColor = vec4(strength * textureLod(panorama, place, 0.0).rgb, 0.0);
}
`,
      depthTest: false,
      depthWrite: false,
    });
  }

  show(panorama: Texture, { environment, camera }: Scene3d): void {
    const fromScene = new Quaternion(...environment.rotation).invert();
    this.uniforms.panorama!.value = panorama;
    this.uniforms.turn!.value.setFromMatrix4(new Matrix4().makeRotationFromQuaternion(fromScene));
    this.uniforms.field!.value = halfField(camera);
    this.uniforms.strength!.value = environment.strength;
  }
}
