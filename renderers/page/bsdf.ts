import { ALBEDO_COLUMNS, ALBEDO_ROWS, MIN_ALPHA, REFRACTIVE_INDEX } from './albedo-table.ts';

const float = (value: number) => (Number.isInteger(value) ? `${value}.0` : `${value}`);

/**
 * How a material scatters light, in GLSL: the mean, by transmission, of an opaque surface and of glass.
 *
 * Opaque: GGX microfacets (height-correlated Smith masking, Schlick's Fresnel with F90 = 1), what they lose to light that
 * strikes them twice (Kulla and Conty 2017), and below them a diffuse base that gets what the dielectric's reflection leaves
 * (after Ashikhmin and Shirley 2000, with the same tables). Half a metal is the mean of metal and dielectric, as glTF has it.
 * Reciprocal; white conserves energy to the table's precision.
 *
 * Glass: GGX microfacets with exact Fresnel (Walter et al. 2007), tinted where light passes, divided by its directional
 * albedo: so white conserves energy, but swapping directions changes it by the ratio of their albedos (at most the share that
 * rough glass loses). What passes is radiance over the square of the medium's index, so that light through an object
 * that is left again needs no factor. Before the division it is reciprocal in that measure: f(o, i) / to² = f(i, o) / from², where
 * `from` is the index on the side of o and `to` that on the side of i.
 *
 * Directions point away from the surface; z is the shading normal, on the side of o (o.z > 0). `inside`: o is in the glass.
 * Both functions give f·|cos|; densities are per solid angle. Samples that end below an opaque surface, or on the wrong side of
 * rough glass, have weight and density 0: the density integrates to 1 less their share. Needs uniform `albedoTable`
 * (albedo-table.ts).
 */
export const BSDF = /* glsl */ `
uniform sampler2D albedoTable;

struct Scattering {
  vec3 color;
  float roughness;
  float metalness;
  float transmission;
};

const float INVERSE_PI = 0.31830988618;
const float FULL_CIRCLE = 6.28318530718;
const float REFRACTIVE_INDEX = ${float(REFRACTIVE_INDEX)};
// Of dielectrics at normal incidence; and the mean of Schlick's (1 - cos)^5 over the hemisphere.
const float DIELECTRIC_F0 = 0.04;
const float MEAN_FRESNEL_RISE = 1.0 / 21.0;

// What scattering needs to know of a material seen from a direction, whatever the other direction is.
struct Lobes {
  float alpha;
  vec3 f0;
  vec3 multiple; // reflected more than once, but for what the other direction loses
  vec3 diffuse; // likewise, but for what the other direction leaves
  float dielectricMultiple;
  float specularShare; // how often the opaque surface's first reflection is sampled
  float glassShare;
  float glassGain;
};

vec4 albedos(float cosine, float roughness, float part) {
  vec2 nodes = vec2(${float(ALBEDO_COLUMNS)}, ${float(ALBEDO_ROWS)});
  vec2 place = (vec2(sqrt(cosine), roughness) * (nodes - 1.0) + 0.5) / nodes;
  return textureLod(albedoTable, vec2(place.x, 0.5 * (place.y + part)), 0.0);
}

// Of what is lost at first reflection, the share that is reflected later. lost: mean over the hemisphere.
vec3 multipleReflection(vec3 f0, float lost) {
  vec3 fresnel = f0 + (1.0 - f0) * MEAN_FRESNEL_RISE;
  return fresnel * fresnel * (1.0 - lost) / (1.0 - fresnel * lost);
}

// Directional albedo of a dielectric's reflection.
float dielectricAlbedo(vec2 lostAndGrazing, float multiple) {
  return DIELECTRIC_F0 * (1.0 - lostAndGrazing.x - lostAndGrazing.y) + lostAndGrazing.y + lostAndGrazing.x * multiple;
}

float luminanceOf(vec3 color) {
  return dot(color, vec3(0.2126, 0.7152, 0.0722));
}

Lobes lobesOf(Scattering s, vec3 o, bool inside) {
  Lobes l;
  l.alpha = max(s.roughness * s.roughness, ${float(MIN_ALPHA)});
  l.glassShare = s.transmission * (1.0 - s.metalness);
  l.glassGain = 0.0;
  if (l.glassShare > 0.0) {
    vec2 lost = albedos(o.z, s.roughness, 1.0).xy;
    l.glassGain = 1.0 / (1.0 - (inside ? lost.y : lost.x));
  }
  vec4 lost = albedos(o.z, s.roughness, 0.0);
  l.f0 = mix(vec3(DIELECTRIC_F0), s.color, s.metalness);
  l.dielectricMultiple = multipleReflection(vec3(DIELECTRIC_F0), lost.z).x;
  vec3 multiple = mix(vec3(l.dielectricMultiple), multipleReflection(s.color, lost.z), s.metalness);
  float left = 1.0 - dielectricAlbedo(lost.xy, l.dielectricMultiple);
  vec3 base = s.color * (1.0 - s.metalness) * left;
  l.multiple = multiple * lost.x * INVERSE_PI / max(lost.z, 1e-7);
  l.diffuse = base * INVERSE_PI / (1.0 - dielectricAlbedo(lost.zw, l.dielectricMultiple));
  float specular = luminanceOf(l.f0) * (1.0 - lost.x - lost.y) + lost.y;
  float rest = luminanceOf(base + multiple * lost.x);
  l.specularShare = specular / max(specular + rest, 1e-7);
  return l;
}

// GGX; from sine and cosine, since 1 - cos² has no digits left near the normal.
float normalDistribution(vec3 h, float alpha) {
  float stretched = dot(h.xy, h.xy) / (alpha * alpha) + h.z * h.z;
  return INVERSE_PI / (alpha * alpha * stretched * stretched);
}

// cos · (1 + 2Λ) of Smith's masking, length of a direction on the stretched surface.
float stretchedLength(vec3 v, float alpha) {
  return sqrt(alpha * alpha * dot(v.xy, v.xy) + v.z * v.z);
}

// How much of the sphere's cap can be reflected at all without ending below the surface (Eto and Tokuyoshi 2023).
float capBound(vec3 o, float alpha) {
  float s = 1.0 + length(o.xy);
  float a2 = alpha * alpha;
  float s2 = s * s;
  return (1.0 - a2) * s2 / (s2 + a2 * o.z * o.z);
}

// A microfacet's normal that is seen from o (Dupuy and Benyoub 2023). bound: 1 for all of them.
vec3 visibleNormal(vec3 o, float alpha, float bound, vec2 u) {
  vec3 stretched = normalize(vec3(alpha * o.xy, o.z));
  float z = 1.0 - u.y * (1.0 + bound * stretched.z);
  float radius = sqrt(max(0.0, 1.0 - z * z));
  float azimuth = FULL_CIRCLE * u.x;
  vec3 h = vec3(radius * cos(azimuth), radius * sin(azimuth), z) + stretched;
  return normalize(vec3(alpha * h.xy, h.z));
}

float glassFresnel(float cosine, float index) {
  float squared = index * index - 1.0 + cosine * cosine;
  if (squared <= 0.0) return 1.0;
  float g = sqrt(squared);
  float polarised = (g - cosine) / (g + cosine);
  float other = (cosine * (g + cosine) - 1.0) / (cosine * (g - cosine) + 1.0);
  return 0.5 * polarised * polarised * (1.0 + other * other);
}

vec3 opaqueScatter(Lobes l, Scattering s, vec3 o, vec3 i, out float density) {
  vec3 h = normalize(o + i);
  float facets = normalDistribution(h, l.alpha);
  float seen = stretchedLength(o, l.alpha);
  float rise = pow(clamp(1.0 - dot(o, h), 0.0, 1.0), 5.0);
  vec3 fresnel = l.f0 + (1.0 - l.f0) * rise;
  vec3 specular = fresnel * (facets * 0.5 / (o.z * stretchedLength(i, l.alpha) + i.z * seen));
  vec2 lost = albedos(i.z, s.roughness, 0.0).xy;
  vec3 rest = l.multiple * lost.x + l.diffuse * (1.0 - dielectricAlbedo(lost, l.dielectricMultiple));
  float reflection = 0.5 * facets / (capBound(o, l.alpha) * o.z + seen);
  density = mix(i.z * INVERSE_PI, reflection, l.specularShare);
  return (specular + rest) * i.z;
}

vec3 glassScatter(Lobes l, Scattering s, vec3 o, vec3 i, bool inside, out float density) {
  density = 0.0;
  float from = inside ? REFRACTIVE_INDEX : 1.0;
  float to = inside ? 1.0 : REFRACTIVE_INDEX;
  bool passes = i.z < 0.0;
  vec3 h = normalize(passes ? from * o + to * i : o + i);
  h = h.z < 0.0 ? -h : h;
  float oh = dot(o, h);
  float ih = dot(i, h);
  if (oh <= 0.0 || (passes && ih >= 0.0)) return vec3(0.0);
  float fresnel = glassFresnel(oh, to / from);
  float seen = stretchedLength(o, l.alpha);
  float lit = stretchedLength(i, l.alpha);
  // Of the microfacets' visible normals, times what turns a normal's density into a direction's.
  float visible = 2.0 * normalDistribution(h, l.alpha) / (o.z + seen);
  vec3 tint = vec3(1.0);
  float masking;
  if (passes) {
    float path = from * oh + to * ih;
    visible *= (1.0 - fresnel) * oh * to * to * -ih / (path * path);
    masking = -2.0 * i.z / (lit - i.z);
    tint = s.color;
  } else {
    visible *= 0.25 * fresnel;
    masking = i.z * (o.z + seen) / (o.z * lit + i.z * seen);
  }
  density = visible;
  return tint * (visible * masking * l.glassGain);
}

vec3 scatterLobes(Lobes l, Scattering s, vec3 o, vec3 i, bool inside, out float density) {
  vec3 value = vec3(0.0);
  density = 0.0;
  if (i.z > 0.0 && l.glassShare < 1.0) {
    value = (1.0 - l.glassShare) * opaqueScatter(l, s, o, i, density);
    density *= 1.0 - l.glassShare;
  }
  if (l.glassShare > 0.0) {
    float glassDensity;
    value += l.glassShare * glassScatter(l, s, o, i, inside, glassDensity);
    density += l.glassShare * glassDensity;
  }
  return value;
}

// f·|cos| between two directions, and the density with which sampleScatter would choose i.
vec3 scatter(Scattering s, vec3 o, vec3 i, bool inside, out float density) {
  density = 0.0;
  if (o.z <= 0.0) return vec3(0.0);
  return scatterLobes(lobesOf(s, o, inside), s, o, i, inside, density);
}

// Chooses i; f·|cos| over density. i.z < 0: through the surface.
vec3 sampleLobes(Lobes l, Scattering s, vec3 o, bool inside, vec3 u, out vec3 i, out float density) {
  density = 0.0;
  i = vec3(0.0, 0.0, 1.0);
  bool glass = u.z < l.glassShare;
  float choice = glass ? u.z / l.glassShare : (u.z - l.glassShare) / (1.0 - l.glassShare);
  bool specular = glass || choice < l.specularShare;
  bool passes = false;
  if (specular) {
    vec3 h = visibleNormal(o, l.alpha, glass ? 1.0 : capBound(o, l.alpha), u.xy);
    float oh = dot(o, h);
    i = 2.0 * oh * h - o;
    if (glass) {
      float index = inside ? 1.0 / REFRACTIVE_INDEX : REFRACTIVE_INDEX;
      passes = choice >= glassFresnel(oh, index);
      if (passes) i = (oh / index - sqrt(max(0.0, 1.0 - (1.0 - oh * oh) / (index * index)))) * h - o / index;
    }
  } else {
    float radius = sqrt(u.x);
    float azimuth = FULL_CIRCLE * u.y;
    i = vec3(radius * cos(azimuth), radius * sin(azimuth), sqrt(1.0 - u.x));
  }
  if (passes ? i.z >= 0.0 : i.z <= 0.0) return vec3(0.0);
  vec3 value = scatterLobes(l, s, o, i, inside, density);
  return density > 0.0 ? value / density : vec3(0.0);
}

vec3 sampleScatter(Scattering s, vec3 o, bool inside, vec3 u, out vec3 i, out float density) {
  density = 0.0;
  i = vec3(0.0, 0.0, 1.0);
  if (o.z <= 0.0) return vec3(0.0);
  return sampleLobes(lobesOf(s, o, inside), s, o, inside, u, i, density);
}
`;
