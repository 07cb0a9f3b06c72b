import { HEIGHT_LOOKUP, MAPPING_UNIFORMS, MATERIAL_LOOKUP } from './box-projection.ts';
import { BSDF } from './bsdf.ts';
import { ENVIRONMENT_SAMPLING } from './environment-sampling.ts';
import { SOBOL } from './sobol.ts';
import { TREE_RAYS } from './tree-rays.ts';

/**
 * How often a path may be scattered after its first surface, as Cycles counts: with 0, what lies behind the camera's ray is lit by
 * the panorama alone.
 */
export const MAX_BOUNCES = 32;

/** Scatterings from which on a path may end by chance. */
const CHANCE_FROM = 2;

/** Rays start this far from the surface: beyond rounding, which is some 1e-7, and below all details. */
const OFFSET = 1e-5;

/** What both programs need: the camera's rays, and what lies where they meet the object. Space is the object's. */
const SURFACES = /* glsl */ `
#include <common>
${MAPPING_UNIFORMS}
uniform sampler2D colorMap;
uniform sampler2D normalHeightMap;
uniform sampler2D propertyMap;
uniform float displacement;
${MATERIAL_LOOKUP}
${TREE_RAYS}
uniform highp isampler2D vertexPositions;
uniform highp isampler2D vertexNormals;
uniform vec3 cameraPlace;
uniform mat3 cameraAxes; // right, up, back
uniform float field;
uniform float side; // of the image, pixels
uniform float near; // nothing of the object is nearer to the camera along its axis

// Towards a place of the image, pixels from its lower left corner; 1 along the camera's axis.
vec3 cameraRay(vec2 place) {
  return cameraAxes * vec3(field * (2.0 * place / side - 1.0), -1.0);
}

// Where a ray into that direction begins: rounding grows with the distance from the object.
vec3 cameraStart(vec3 ray) {
  return cameraPlace + near * ray;
}

struct Surface {
  vec3 point;
  vec3 geometric; // unit normal of the triangle on the ray's side
  vec3 smoothed; // unit normal as the mesh has it, on that side
  bool inside; // whether the ray met the triangle from behind
  BoxMaterial material;
};

vec3 interpolated(highp isampler2D map, ivec3 vertices, vec3 weights) {
  return weights.x * vec3(texelFetch(map, treePlace(vertices.x), 0).xyz)
    + weights.y * vec3(texelFetch(map, treePlace(vertices.y), 0).xyz)
    + weights.z * vec3(texelFetch(map, treePlace(vertices.z), 0).xyz);
}

Surface surfaceAt(Hit hit, vec3 direction) {
  int texel = 3 * hit.triangle;
  vec4 corner = texelFetch(treeTriangles, treePlace(texel), 0);
  vec4 edge1 = texelFetch(treeTriangles, treePlace(texel + 1), 0);
  vec4 edge2 = texelFetch(treeTriangles, treePlace(texel + 2), 0);
  ivec3 vertices = ivec3(corner.w < 0.0 ? -1.0 - corner.w : corner.w, edge1.w, edge2.w);
  vec3 weights = vec3(1.0 - hit.weights.x - hit.weights.y, hit.weights);
  Surface s;
  s.point = corner.xyz + hit.weights.x * edge1.xyz + hit.weights.y * edge2.xyz;
  vec3 wound = normalize(cross(edge1.xyz, edge2.xyz));
  s.inside = dot(direction, wound) > 0.0;
  float turn = s.inside ? -1.0 : 1.0;
  s.geometric = turn * wound;
  vec3 normal = interpolated(vertexNormals, vertices, weights);
  s.smoothed = dot(normal, normal) > 1.0 ? turn * normalize(normal) : s.geometric;
  // Mapped as it was before it was displaced. Steps are those of the stored form.
  vec3 mapped = displacement > 0.0 ? interpolated(vertexPositions, vertices, weights) / 65534.0 : s.point;
#ifdef TRANSMISSIVE
  // A wall of glass is the same from both sides: a bump on one is a hollow on the other.
  s.material = boxMaterial(mapped, turn * s.smoothed, vec3(0.0), vec3(0.0));
  s.material.slope *= turn;
#else
  s.material = boxMaterial(mapped, s.smoothed, vec3(0.0), vec3(0.0));
#endif
  return s;
}
`;

/** Vertex shader of whatever fills its target. */
export const FILLING = /* glsl */ `
void main() {
  gl_Position = vec4(position.xy, 0.0, 1.0);
}
`;

/**
 * Adds samples to the sums of each pixel, in their order: light and coverage. Light is radiance along paths that start at the
 * camera, with the panorama looked for from every surface, by its brightness and by the material, weighted by the power heuristic
 * (Veach 1997).
 */
export const PATH_TRACING = /* glsl */ `
${SURFACES}
${SOBOL}
${BSDF}
${ENVIRONMENT_SAMPLING}
uniform sampler2D sums;
uniform mat3 toPanorama;
uniform int firstSample;
uniform int endSample;
uniform uint seed;
uniform float clampAbove; // 0 for not at all
uniform bool byLight;
uniform bool byMaterial;
layout(location = 0) out vec4 sum;

// A number where nothing is transmitted, so that compilers leave out what glass takes.
#ifdef TRANSMISSIVE
#define TRANSMISSION s.material.properties.a
#else
#define TRANSMISSION 0.0
#endif

// Two directions across a unit vector (Duff et al. 2017, Building an orthonormal basis, revisited).
mat3 frameAround(vec3 n) {
  float s = n.z < 0.0 ? -1.0 : 1.0;
  float a = -1.0 / (s + n.z);
  float b = n.x * n.y * a;
  return mat3(vec3(1.0 + s * n.x * n.x * a, s * b, -s * n.x), vec3(b, s + n.y * n.y * a, -n.y), n);
}

// A mirror sends light no closer to the surface than this, as a cosine to the triangle's normal.
const float LOWEST_MIRRORED = 0.02;

// The normal that light is reflected about: bent by the mesh's smoothing and by the map, but only as far as a mirror would still send the
// viewer's direction above the triangle. Beyond that triangles would show as black shards: what is mirrored below them is lost.
vec3 shadingNormal(Surface s, vec3 toViewer) {
  vec3 smoothed = dot(s.smoothed, s.geometric) < 0.0 ? -s.smoothed : s.smoothed;
  vec3 slope = s.material.slope - smoothed * dot(s.material.slope, smoothed);
  vec3 normal = normalize(smoothed + slope);
  normal = normalize(normal + max(0.0, 1e-3 - dot(normal, toViewer)) * toViewer);
  vec3 mirrored = 2.0 * dot(normal, toViewer) * normal - toViewer;
  float lowest = min(LOWEST_MIRRORED, 0.9 * dot(toViewer, s.geometric));
  float missing = lowest - dot(mirrored, s.geometric);
  return missing > 0.0 ? normalize(toViewer + normalize(mirrored + missing * s.geometric)) : normal;
}

float powerHeuristic(float density, float other) {
  float ratio = other / density;
  return 1.0 / (1.0 + ratio * ratio);
}

// What is no number fails any comparison: such paths carry nothing and cover nothing.
void addPath(vec3 light, vec3 later, bool covered) {
  float most = max(later.x, max(later.y, later.z));
  if (clampAbove > 0.0 && most > clampAbove) later *= clampAbove / most;
  vec3 path = light + later;
  bool sound = all(greaterThanEqual(path, vec3(0.0))) && all(lessThan(path, vec3(1e30)));
  if (sound) sum += vec4(path, covered);
}

void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  sum = firstSample > 0 ? texelFetch(sums, pixel, 0) : vec4(0.0);
  // Lanes of a processor go through loops together, and through both sides of every branch: a lane whose path has ended
  // starts the next one at once, and what surfaces take is left out while all that is met is the panorama.
  int number = firstSample;
  int depth = -1;
  float density = 0.0;
  Hit hit;
  vec3 origin, direction, throughput, light, later;
  while (number < endSample) {
    bool met = false;
    while (!met && number < endSample) {
      if (depth < 0) {
        depth = 0;
        vec3 ray = cameraRay(vec2(pixel) + samplePair(uvec2(pixel), uint(number), 0u, seed));
        origin = cameraStart(ray);
        direction = normalize(ray);
        throughput = vec3(1.0);
        light = vec3(0.0);
        later = vec3(0.0);
      }
      met = firstHit(origin, direction, hit);
      if (met && depth <= ${MAX_BOUNCES}) continue;
      if (!met) {
        vec3 toward = toPanorama * direction;
        float weight = 1.0;
        if (depth > 0) {
          weight = !byMaterial ? 0.0 : !byLight ? 1.0 : powerHeuristic(density, environmentDensity(toward));
        }
        vec3 carried = throughput * weight * environmentRadiance(toward);
        if (depth < 2) light += carried;
        else later += carried;
      }
      addPath(light, later, depth > 0);
      met = false;
      number++;
      depth = -1;
    }
    if (!met) break;
    Surface s = surfaceAt(hit, direction);
    mat3 frame = frameAround(shadingNormal(s, -direction));
    vec3 o = -direction * frame;
    Scattering scattering =
      Scattering(s.material.color.rgb, s.material.properties.g, s.material.properties.b, TRANSMISSION);
    Lobes lobes = lobesOf(scattering, o, s.inside);
    uint pair = uint(1 + 3 * depth);
    if (byLight) {
      vec3 toward;
      float lightDensity;
      vec2 u = samplePair(uvec2(pixel), uint(number), pair, seed);
      vec3 radiance = sampleEnvironment(u, toward, lightDensity);
      vec3 leaving = toward * toPanorama;
      vec3 i = leaving * frame;
      float above = dot(leaving, s.geometric);
      float materialDensity;
      vec3 scattered = scatterLobes(lobes, scattering, o, i, s.inside, materialDensity);
      vec3 carried = above * i.z > 0.0 && lightDensity > 0.0 ? throughput * radiance * scattered / lightDensity : vec3(0.0);
      if (byMaterial) carried *= powerHeuristic(lightDensity, materialDensity);
      if (max(carried.x, max(carried.y, carried.z)) > 0.0
        && !occluded(s.point + (above > 0.0 ? ${OFFSET} : -${OFFSET}) * s.geometric, leaving)) {
        if (depth == 0) light += carried;
        else later += carried;
      }
    }
    vec2 u = samplePair(uvec2(pixel), uint(number), pair + 1u, seed);
    vec2 choice = samplePair(uvec2(pixel), uint(number), pair + 2u, seed);
    vec3 i;
    throughput *= sampleLobes(lobes, scattering, o, s.inside, vec3(u, choice.x), i, density);
    direction = normalize(frame * i);
    float above = dot(direction, s.geometric);
    origin = s.point + (above > 0.0 ? ${OFFSET} : -${OFFSET}) * s.geometric;
    float most = max(throughput.x, max(throughput.y, throughput.z));
    float survival = depth < ${CHANCE_FROM} ? 1.0 : clamp(most, 0.05, 1.0);
    throughput /= survival;
    depth++;
    if (above * i.z <= 0.0 || !(most > 0.0) || choice.y >= survival) {
      addPath(light, later, true);
      number++;
      depth = -1;
    }
  }
}
`;

/**
 * What the middle of each pixel shows, without light: unit normal in the camera's axes and depth along its axis; base colour and
 * whether it is the object's.
 */
export const FIRST_SURFACES = /* glsl */ `
${SURFACES}
layout(location = 0) out vec4 normalDepth;
layout(location = 1) out vec4 baseColor;

void main() {
  normalDepth = vec4(0.0);
  baseColor = vec4(0.0);
  vec3 direction = cameraRay(gl_FragCoord.xy);
  Hit hit;
  if (firstHit(cameraStart(direction), direction, hit)) {
    Surface s = surfaceAt(hit, direction);
    normalDepth = vec4(s.smoothed * cameraAxes, near + hit.distance);
    baseColor = vec4(s.material.color.rgb, 1.0);
  }
}
`;

/** Where displacement puts each vertex, a pixel a vertex. */
export const DISPLACED_VERTICES = /* glsl */ `
${MAPPING_UNIFORMS}
${HEIGHT_LOOKUP}
uniform sampler2D normalHeightMap;
uniform float displacement;
uniform highp isampler2D vertexPositions;
uniform highp isampler2D vertexNormals;
layout(location = 0) out vec4 place;

void main() {
  ivec2 vertex = ivec2(gl_FragCoord.xy);
  ivec4 position = texelFetch(vertexPositions, vertex, 0);
  vec2 folded = vec2(position.w, texelFetch(vertexNormals, vertex, 0).w) / 32767.0;
  vec3 point = max(vec3(position.xyz) / 32767.0, -1.0) * 0.5;
  place = vec4(displacedPoint(normalHeightMap, displacement, point, unfolded(folded)), 1.0);
}
`;
