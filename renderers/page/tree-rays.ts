import { type IUniform, Vector3 } from 'three';
import { type PlacedTree, TREE_ROW } from './mesh-tree.ts';

/** Uniforms of the tree that rays are cast into. */
export class TreeUniforms {
  readonly uniforms = {
    treeNodes: { value: null } as IUniform,
    treeTriangles: { value: null } as IUniform,
    treeCorner: { value: new Vector3() },
    treeSteps: { value: new Vector3() },
    treeSize: { value: 0 },
  };

  use({ nodes, triangles, corner, stepsPerLength, size }: PlacedTree): void {
    const { uniforms } = this;
    uniforms.treeNodes.value = nodes;
    uniforms.treeTriangles.value = triangles;
    uniforms.treeCorner.value.copy(corner);
    uniforms.treeSteps.value.copy(stepsPerLength);
    uniforms.treeSize.value = size;
  }
}

/**
 * `firstHit` and `occluded`: where a ray first meets the mesh, and whether it does at all. Origins and directions are the
 * object's; directions need not have length 1, distances are in units of theirs. The form of the tree is `mesh-tree.ts`'. Whatever a
 * texture holds (nothing, where a graphics card had no memory for it), a ray goes on, and ends.
 */
export const TREE_RAYS = /* glsl */ `
uniform highp usampler2D treeNodes;
uniform highp sampler2D treeTriangles;
uniform vec3 treeCorner;
uniform vec3 treeSteps;
uniform int treeSize;

struct Hit {
  float distance;
  int triangle;
  vec2 weights; // of the second and third corner
};

const float FAR = 1e20;
// Triangles are larger by this part of their edges: what rounding does would leave gaps between them.
const float WIDENED = 1e-4;

ivec2 treePlace(int index) {
  return ivec2(index & ${TREE_ROW - 1}, index >> ${Math.log2(TREE_ROW)});
}

// What a ray needs at every node: distances to a node's bounds b, in steps of the grid, are b * perStep + start.
void treeRay(vec3 origin, vec3 direction, out vec3 perStep, out vec3 start, out int at) {
  vec3 nonZero = mix(direction, vec3(1e-12), lessThan(abs(direction), vec3(1e-12)));
  perStep = 1.0 / (nonZero * treeSteps);
  start = (treeCorner - origin) * treeSteps * perStep;
  ivec3 octant = ivec3(lessThan(direction, vec3(0.0)));
  at = treeSize * (octant.x + 2 * octant.y + 4 * octant.z);
}

bool meetsNode(uvec4 node, vec3 perStep, vec3 start, float farthest) {
  vec3 a = vec3(node.xyz & 0xffffu) * perStep + start;
  vec3 b = vec3(node.xyz >> 16u) * perStep + start;
  vec3 entering = min(a, b);
  vec3 leaving = max(a, b);
  return max(max(entering.x, entering.y), max(entering.z, 0.0)) <= min(min(leaving.x, leaving.y), min(leaving.z, farthest));
}

// Möller and Trumbore, Fast, minimum storage ray/triangle intersection (1997).
bool meetsTriangle(vec3 origin, vec3 direction, vec3 corner, vec3 edge1, vec3 edge2, inout Hit hit) {
  vec3 p = cross(direction, edge2);
  float scale = 1.0 / dot(edge1, p);
  vec3 s = origin - corner;
  vec3 q = cross(s, edge1);
  vec2 weights = scale * vec2(dot(s, p), dot(direction, q));
  float distance = scale * dot(edge2, q);
  bool meets = min(weights.x, weights.y) >= -WIDENED && weights.x + weights.y <= 1.0 + WIDENED
    && distance > 0.0 && distance < hit.distance;
  if (meets) {
    hit.distance = distance;
    hit.weights = weights;
  }
  return meets;
}

bool firstHit(vec3 origin, vec3 direction, out Hit hit) {
  hit = Hit(FAR, -1, vec2(0.0));
  vec3 perStep, start;
  int at;
  treeRay(origin, direction, perStep, start, at);
  int end = at + treeSize;
  while (at < end) {
    // All lanes look for a leaf first, then all test triangles.
    int triangle = -1;
    while (at < end && triangle < 0) {
      uvec4 node = texelFetch(treeNodes, treePlace(at), 0);
      bool leaf = node.w >= 0x80000000u;
      bool meets = meetsNode(node, perStep, start, hit.distance);
      if (leaf && meets) triangle = int(node.w & 0x7fffffffu);
      at = meets || leaf ? at + 1 : max(at + 1, int(node.w));
    }
    bool last = triangle < 0;
    while (!last) {
      int texel = 3 * triangle;
      vec4 corner = texelFetch(treeTriangles, treePlace(texel), 0);
      vec3 edge1 = texelFetch(treeTriangles, treePlace(texel + 1), 0).xyz;
      vec3 edge2 = texelFetch(treeTriangles, treePlace(texel + 2), 0).xyz;
      if (meetsTriangle(origin, direction, corner.xyz, edge1, edge2, hit)) hit.triangle = triangle;
      last = corner.w < 0.0;
      triangle++;
    }
  }
  return hit.triangle >= 0;
}

bool occluded(vec3 origin, vec3 direction) {
  Hit hit = Hit(FAR, -1, vec2(0.0));
  vec3 perStep, start;
  int at;
  treeRay(origin, direction, perStep, start, at);
  int end = at + treeSize;
  bool found = false;
  while (at < end && !found) {
    int texel = -1;
    while (at < end && texel < 0) {
      uvec4 node = texelFetch(treeNodes, treePlace(at), 0);
      bool leaf = node.w >= 0x80000000u;
      bool meets = meetsNode(node, perStep, start, FAR);
      if (leaf && meets) texel = 3 * int(node.w & 0x7fffffffu);
      at = meets || leaf ? at + 1 : max(at + 1, int(node.w));
    }
    bool last = texel < 0;
    while (!last) {
      vec4 corner = texelFetch(treeTriangles, treePlace(texel), 0);
      vec3 edge1 = texelFetch(treeTriangles, treePlace(texel + 1), 0).xyz;
      vec3 edge2 = texelFetch(treeTriangles, treePlace(texel + 2), 0).xyz;
      found = meetsTriangle(origin, direction, corner.xyz, edge1, edge2, hit);
      last = found || corner.w < 0.0;
      texel += 3;
    }
  }
  return found;
}
`;
