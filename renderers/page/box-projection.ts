/**
 * Box projection in GLSL: how a material is looked up around an object that has no texture coordinates
 * (`scenes/scene3d.ts` defines the mapping). The sides of the box are looked at from outside with y up (top and bottom
 * with x to the right), so nothing is mirrored. Texture rows run downwards from v = 1.
 */

/** Uniforms of the mapping, for both shaders. */
export const MAPPING_UNIFORMS = /* glsl */ `
uniform vec3 mapScale;
uniform mat3 mapTurn;
uniform vec3 mapOffset;
uniform float mapBlend;

vec3 mappedPoint(vec3 objectPoint) {
  return mapTurn * (mapScale * objectPoint) + mapOffset;
}

// A normal goes with the inverse of the scale.
vec3 mappedNormal(vec3 objectNormal) {
  return normalize(mapTurn * (objectNormal / mapScale));
}

// How much each side of the box counts: one alone, but for a narrow band around the edges.
vec3 sideWeights(vec3 normal) {
  vec3 facing = abs(normal);
  float most = max(facing.x, max(facing.y, facing.z));
  vec3 weights = mapBlend > 0.0 ? clamp(1.0 - (most - facing) / mapBlend, 0.0, 1.0) : step(most, facing);
  return weights / (weights.x + weights.y + weights.z);
}

// Places on the sides that face x, y and z; signs tell which of the two.
vec2 sideX(vec3 p, float facing) { return vec2(facing < 0.0 ? p.z : -p.z, -p.y); }
vec2 sideY(vec3 p, float facing) { return vec2(p.x, facing < 0.0 ? -p.z : p.z); }
vec2 sideZ(vec3 p, float facing) { return vec2(facing < 0.0 ? -p.x : p.x, -p.y); }
`;

/** Looks the height up for a vertex and moves it; the full resolution, since vertices lie further apart than its details anyway. */
export const HEIGHT_LOOKUP = /* glsl */ `
// A direction from its place on an octahedron folded flat (scenes/mesh-format.ts).
vec3 unfolded(vec2 place) {
  vec3 direction = vec3(place, 1.0 - abs(place.x) - abs(place.y));
  vec2 signs = vec2(place.x < 0.0 ? -1.0 : 1.0, place.y < 0.0 ? -1.0 : 1.0);
  if (direction.z < 0.0) direction.xy = (1.0 - abs(direction.yx)) * signs;
  return normalize(direction);
}

float boxHeight(sampler2D map, vec3 objectPoint, vec3 objectNormal) {
  vec3 p = mappedPoint(objectPoint);
  vec3 normal = mappedNormal(objectNormal);
  vec3 weights = sideWeights(normal);
  return weights.x * textureLod(map, sideX(p, normal.x), 0.0).a
    + weights.y * textureLod(map, sideY(p, normal.y), 0.0).a
    + weights.z * textureLod(map, sideZ(p, normal.z), 0.0).a;
}

vec3 displacedPoint(sampler2D map, float displacement, vec3 objectPoint, vec3 direction) {
  return objectPoint + displacement * boxHeight(map, objectPoint, direction) * direction;
}
`;

/**
 * Looks up three maps at once for a point of the surface. How far the mapped point moves from one pixel to the next decides the
 * level of detail: derivatives are the caller's, taken before any branch, where they are defined; zero asks for the finest. A slope
 * is what a tangent-space normal says of the surface, as a vector of the object's space: the tangent frames are the directions
 * in which a side's picture runs, so that they are right whatever the mapping (surface gradients, after Mikkelsen 2020).
 */
export const MATERIAL_LOOKUP = /* glsl */ `
struct BoxMaterial {
  vec4 color;
  vec4 properties;
  vec3 slope;
};

float levelOfDetail(vec2 perColumn, vec2 perRow, float side) {
  return 0.5 * log2(max(max(dot(perColumn, perColumn), dot(perRow, perRow)), 1e-20)) + log2(side);
}

void addSide(inout BoxMaterial sum, float weight, vec2 place, float level, vec3 right, vec3 up) {
  sum.color += weight * textureLod(colorMap, place, level);
  sum.properties += weight * textureLod(propertyMap, place, level);
  vec3 n = textureLod(normalHeightMap, place, level).xyz * 2.0 - 1.0;
  sum.slope += weight * (n.x * right + n.y * up) / max(n.z, 0.05);
}

BoxMaterial boxMaterial(vec3 objectPoint, vec3 objectNormal, vec3 perColumn, vec3 perRow) {
  vec3 p = mappedPoint(objectPoint);
  vec3 normal = mappedNormal(objectNormal);
  vec3 weights = sideWeights(normal);
  float side = float(textureSize(colorMap, 0).x);
  // Directions of the material's axes on the object.
  mat3 axes = transpose(mapTurn);
  vec3 toX = axes[0], toY = axes[1], toZ = axes[2];
  BoxMaterial sum = BoxMaterial(vec4(0.0), vec4(0.0), vec3(0.0));
  // A loop, since software goes through branches that it does not take: nearly everywhere, one side is all.
  while (weights.x + weights.y + weights.z > 0.0) {
    bool x = weights.x > 0.0;
    bool y = !x && weights.y > 0.0;
    float weight = x ? weights.x : y ? weights.y : weights.z;
    vec2 place = x ? sideX(p, normal.x) : y ? sideY(p, normal.y) : sideZ(p, normal.z);
    vec2 across = x ? perColumn.zy : y ? perColumn.xz : perColumn.xy;
    vec2 down = x ? perRow.zy : y ? perRow.xz : perRow.xy;
    vec3 right = x ? (normal.x < 0.0 ? toZ : -toZ) : y ? toX : normal.z < 0.0 ? -toX : toX;
    vec3 up = y ? (normal.y < 0.0 ? toZ : -toZ) : toY;
    addSide(sum, weight, place, levelOfDetail(across, down, side), right, up);
    weights *= x ? vec3(0.0, 1.0, 1.0) : vec3(0.0, 0.0, y ? 1.0 : 0.0);
  }
  return sum;
}
`;
