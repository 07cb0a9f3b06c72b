import {
  DoubleSide,
  EqualDepth,
  Matrix3,
  Matrix4,
  MeshPhysicalMaterial,
  Quaternion,
  ShaderChunk,
  ShaderMaterial,
  type Texture,
  Vector3,
} from 'three';
import type { Scene3d } from '../../scenes/scene3d.ts';
import { HEIGHT_LOOKUP, MAPPING_UNIFORMS, MATERIAL_LOOKUP } from './box-projection.ts';

/** A material's three images on the GPU; `scenes/material-format.ts` says what they hold. */
export interface MaterialTextures {
  readonly color: Texture;
  readonly normalHeight: Texture;
  readonly properties: Texture;
  readonly transmissive: boolean;
}

/** Refraction where light is transmitted: glass, and a wall of a tenth of the object. */
const TRANSMISSION = { ior: 1.45, thickness: 0.1 };

/** A material as it is laid around an object: the uniforms of both passes. */
export class LaidMaterial {
  readonly uniforms = {
    colorMap: { value: null as Texture | null },
    normalHeightMap: { value: null as Texture | null },
    propertyMap: { value: null as Texture | null },
    mapScale: { value: new Vector3() },
    mapTurn: { value: new Matrix3() },
    mapOffset: { value: new Vector3() },
    mapBlend: { value: 0 },
    displacement: { value: 0 },
  };

  /** Lays a material as a scene says. */
  lay(textures: MaterialTextures, { mapping, displacement }: Scene3d['material']): void {
    const { uniforms } = this;
    uniforms.colorMap.value = textures.color;
    uniforms.normalHeightMap.value = textures.normalHeight;
    uniforms.propertyMap.value = textures.properties;
    uniforms.mapScale.value.set(...mapping.scale);
    uniforms.mapTurn.value.setFromMatrix4(
      new Matrix4().makeRotationFromQuaternion(new Quaternion(...mapping.rotation)),
    );
    uniforms.mapOffset.value.set(...mapping.offset);
    uniforms.mapBlend.value = mapping.blend;
    uniforms.displacement.value = displacement;
  }
}

/**
 * The object's depth alone, drawn first: nothing hidden is shaded then, which is a third of the time on software, where
 * triangles come in any order.
 */
export class DepthMaterial extends ShaderMaterial {
  constructor(laid: LaidMaterial) {
    super({
      uniforms: laid.uniforms,
      vertexShader: placedVertices(),
      fragmentShader: 'void main() {}',
      side: DoubleSide,
      colorWrite: false,
    });
  }
}

/**
 * three's physical material, looked up by box projection. There are two shader programs in all, with and without
 * transmission: which maps a material has is a matter of their pixels.
 */
export class ObjectMaterial extends MeshPhysicalMaterial {
  constructor(laid: LaidMaterial, transmissive: boolean) {
    // Meshes in the wild are open and wound either way. What is hidden has been found by DepthMaterial.
    super({
      side: DoubleSide,
      depthFunc: EqualDepth,
      depthWrite: false,
      ...(transmissive && { transmission: 1, ...TRANSMISSION }),
    });
    this.onBeforeCompile = shader => {
      Object.assign(shader.uniforms, laid.uniforms);
      shader.vertexShader = withChunks(shader.vertexShader, VERTEX_CHUNKS);
      shader.fragmentShader = withChunks(shader.fragmentShader, FRAGMENT_CHUNKS);
    };
  }

  override customProgramCacheKey(): string {
    return 'object';
  }
}

function replaced(source: string, part: string, code: string): string {
  if (!source.includes(part)) throw new Error(`three's shader has no "${part}" any more`);
  return source.replace(part, code);
}

/** Where the object covers anything: white, whatever is in front. */
export class OutlineMaterial extends ShaderMaterial {
  constructor(laid: LaidMaterial) {
    super({
      uniforms: laid.uniforms,
      vertexShader: placedVertices(),
      fragmentShader: 'void main() { gl_FragColor = vec4(1.0); }',
      side: DoubleSide,
      depthTest: false,
      depthWrite: false,
    });
  }
}

/**
 * The unit normal as the mesh has it, in the camera's axes and turned to the side that is seen, and the depth along the camera's
 * axis as alpha.
 */
export class GeometryMaterial extends ShaderMaterial {
  constructor(laid: LaidMaterial) {
    super({
      uniforms: laid.uniforms,
      vertexShader: placedVertices(),
      fragmentShader: /* glsl */ `
uniform mat3 normalMatrix;
varying vec3 vObjectNormal;
varying float vDepth;
void main() {
  vec3 objectNormal = normalize(vObjectNormal) * (gl_FrontFacing ? 1.0 : -1.0);
  gl_FragColor = vec4(normalize(normalMatrix * objectNormal), vDepth);
}
`,
      side: DoubleSide,
    });
  }
}

/** The vertices where the object's own shader puts them, and how far away that is. */
const placedVertices = () => /* glsl */ `
${VERTEX_CHUNKS.common.replace('#include <common>', '')}
varying float vDepth;
void main() {
  vec3 objectNormal = normal;
  ${VERTEX_CHUNKS.begin_vertex}
  vec4 mvPosition = modelViewMatrix * vec4(transformed, 1.0);
  vDepth = -mvPosition.z;
  gl_Position = projectionMatrix * mvPosition;
}
`;

/** Replaces `#include <name>` by code, in which the include may stand again. */
function withChunks(source: string, chunks: Readonly<Record<string, string>>): string {
  let result = source;
  for (const [name, code] of Object.entries(chunks)) {
    result = replaced(result, `#include <${name}>`, code);
  }
  return result;
}

const VERTEX_CHUNKS = {
  common: /* glsl */ `#include <common>
${MAPPING_UNIFORMS}
${HEIGHT_LOOKUP}
uniform sampler2D normalHeightMap;
uniform float displacement;
attribute float directionU;
attribute float directionV;
invariant gl_Position; // both passes find the very same depth
varying vec3 vObjectPoint;
varying vec3 vObjectNormal;
`,
  // The stored form's positions: normalised 16-bit numbers, half the longest side.
  begin_vertex: /* glsl */ `
vec3 transformed = position * 0.5;
vObjectPoint = transformed;
vObjectNormal = objectNormal;
if (displacement > 0.0) {
  transformed = displacedPoint(normalHeightMap, displacement, transformed, unfolded(vec2(directionU, directionV)));
}
`,
};

/** three's own, but for how much is transmitted: that is the material's. */
const TRANSMISSION_CHUNK = replaced(
  ShaderChunk.transmission_fragment,
  'material.transmission = transmission;',
  'material.transmission = transmission * box.properties.a;',
);

const FRAGMENT_CHUNKS = {
  common: /* glsl */ `#include <common>
${MAPPING_UNIFORMS}
uniform sampler2D colorMap;
uniform sampler2D normalHeightMap;
uniform sampler2D propertyMap;
uniform mat3 normalMatrix;
varying vec3 vObjectPoint;
varying vec3 vObjectNormal;
${MATERIAL_LOOKUP}
`,
  map_fragment: /* glsl */ `
vec3 objectNormal = normalize(vObjectNormal) * (gl_FrontFacing ? 1.0 : -1.0);
vec3 mapped = mappedPoint(vObjectPoint);
BoxMaterial box = boxMaterial(vObjectPoint, objectNormal, dFdx(mapped), dFdy(mapped));
diffuseColor.rgb *= box.color.rgb;
`,
  roughnessmap_fragment: 'float roughnessFactor = box.properties.g;',
  metalnessmap_fragment: 'float metalnessFactor = box.properties.b;',
  // The slope counts along the surface only.
  normal_fragment_maps: /* glsl */ `
vec3 slope = box.slope - objectNormal * dot(box.slope, objectNormal);
normal = normalize(normalMatrix * (objectNormal + slope));
`,
  aomap_fragment: /* glsl */ `
float ambientOcclusion = box.properties.r;
reflectedLight.indirectDiffuse *= ambientOcclusion;
float dotNV = saturate(dot(geometryNormal, geometryViewDir));
reflectedLight.indirectSpecular *= computeSpecularOcclusion(dotNV, ambientOcclusion, material.roughness);
`,
  transmission_fragment: TRANSMISSION_CHUNK,
  // Alpha is the mask: the object covers what is behind it even where light comes through.
  opaque_fragment: 'gl_FragColor = vec4(outgoingLight, 1.0);',
};
