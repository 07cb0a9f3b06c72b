import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JSONDocument } from '@gltf-transform/core';
import { EXTMeshGPUInstancing, KHRLightsPunctual } from '@gltf-transform/extensions';
import { quantize } from '@gltf-transform/functions';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RawMesh } from '../../../extractors/mesh/triangle-mesh.ts';
import { InputFault } from '../../../pipeline/faults.ts';
import { openMesh } from '../../../pipeline/meshes/mesh-file.ts';
import { type BoxDocument, boxDocument, compress, gltfWriter } from './gltf-files.ts';

let folder: string;
let io: Awaited<ReturnType<typeof gltfWriter>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shapemill-meshes-'));
  io = await gltfWriter();
});
afterAll(() => rm(folder, { recursive: true }));

let files = 0;
async function write(bytes: string | Uint8Array, extension: string): Promise<string> {
  const path = join(folder, `${files++}.${extension}`);
  await writeFile(path, bytes);
  return path;
}

const read = async (path: string) => (await openMesh(path)).decode();

/** A box document, changed, written as GLB and read. */
async function readChanged(change: (box: BoxDocument) => unknown): Promise<Awaited<ReturnType<typeof read>>> {
  const box = boxDocument();
  await change(box);
  return read(await write(await io.writeBinary(box.document), 'glb'));
}

/** A box document as JSON, its one buffer as a data URI. */
async function jsonOfBox(change: (json: JSONDocument['json']) => void = () => {}): Promise<string> {
  const { json, resources } = await io.writeJSON(boxDocument().document, { basename: 'box' });
  json.buffers![0]!.uri = `data:application/octet-stream;base64,${Buffer.from(resources['box.bin']!).toString('base64')}`;
  change(json);
  return JSON.stringify(json);
}

function box({ positions }: RawMesh): (readonly [number, number])[] {
  return [0, 1, 2].map(axis => {
    const values = [...positions].filter((_, i) => i % 3 === axis);
    return [Math.min(...values), Math.max(...values)] as const;
  });
}

/** Volume enclosed; negative when the mesh is wound inwards. */
function volume({ positions, indices }: RawMesh): number {
  let sum = 0;
  for (let i = 0; i < indices.length; i += 3) {
    const [a, b, c] = [0, 1, 2].map(k => [...positions.subarray(indices[i + k]! * 3, indices[i + k]! * 3 + 3)]);
    sum += a![0]! * (b![1]! * c![2]! - b![2]! * c![1]!);
    sum += a![1]! * (b![2]! * c![0]! - b![0]! * c![2]!);
    sum += a![2]! * (b![0]! * c![1]! - b![1]! * c![0]!);
  }
  return sum / 6;
}

/** Whether every normal points away from the centre of the box. */
function normalsPointOut({ positions, normals }: RawMesh): boolean {
  const centre = box({ positions } as RawMesh).map(([low, high]) => (low + high) / 2);
  return [...positions.keys()]
    .filter(i => i % 3 === 0)
    .every(i => [0, 1, 2].reduce((sum, k) => sum + (positions[i + k]! - centre[k]!) * normals[i + k]!, 0) > 0);
}

const near = (bounds: number[][], digits = 3) => bounds.map(range => range.map(value => expect.closeTo(value, digits)));
const PLAIN = [
  [0, 1],
  [0, 2],
  [0, 3],
];

describe('encodings', () => {
  test('a plain GLB comes as it is', async () => {
    const { mesh, dropped } = await readChanged(() => {});
    expect(box(mesh)).toEqual(PLAIN);
    expect(volume(mesh)).toBeCloseTo(6);
    expect(normalsPointOut(mesh)).toBe(true);
    expect([mesh.positions.length, mesh.indices.length, dropped]).toEqual([24, 36, []]);
  });

  test.each([
    ['Draco', ({ document }: BoxDocument) => compress.draco(document)],
    ['meshopt', ({ document }: BoxDocument) => compress.meshopt(document)],
    ['KHR_mesh_quantization', ({ document }: BoxDocument) => document.transform(quantize())],
    [
      'meshopt and KHR_mesh_quantization',
      async ({ document }: BoxDocument) => {
        await document.transform(quantize());
        compress.meshopt(document);
      },
    ],
  ])('%s is decoded', async (_, change) => {
    const { mesh } = await readChanged(change);
    expect(box(mesh)).toEqual(near(PLAIN));
    expect(volume(mesh)).toBeCloseTo(6, 2);
    expect(normalsPointOut(mesh)).toBe(true);
  });

  test('sparse accessors', async () => {
    const { mesh } = await readChanged(({ position }) => position.setSparse(true));
    expect(box(mesh)).toEqual(PLAIN);
  });

  test('triangle strips and fans, indexed and not', async () => {
    const square = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0);
    const around = Float32Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0);
    for (const [mode, points, indexed] of [
      [5, square, false],
      [5, square, true],
      [6, around, false],
    ] as const) {
      const { mesh } = await readChanged(({ primitive, accessor }) =>
        primitive
          .setMode(mode)
          .setAttribute('NORMAL', null)
          .setAttribute('POSITION', accessor('VEC3', points))
          .setIndices(indexed ? accessor('SCALAR', Uint16Array.of(0, 1, 2, 3)) : null),
      );
      const up = [...mesh.indices.keys()]
        .filter(i => i % 3 === 0)
        .map(i => {
          const at = (k: number, axis: number) => mesh.positions[mesh.indices[i + k]! * 3 + axis]!;
          return (at(1, 0) - at(0, 0)) * (at(2, 1) - at(0, 1)) - (at(1, 1) - at(0, 1)) * (at(2, 0) - at(0, 0));
        });
      expect(up).toEqual([1, 1]);
    }
  });

  test('points and lines are left out', async () => {
    const { mesh } = await readChanged(({ document, mesh: all, position }) => {
      for (const mode of [0, 1, 2, 3] as const) {
        all.addPrimitive(document.createPrimitive().setMode(mode).setAttribute('POSITION', position));
      }
    });
    expect(mesh.indices.length).toBe(36);
  });
});

describe('buffers', () => {
  async function gltf(name: string, uri: string, binary = true): Promise<string> {
    const { json, resources } = await io.writeJSON(boxDocument().document, { basename: 'box' });
    const path = join(folder, name, 'box.gltf');
    await mkdir(join(folder, name, 'sub'), { recursive: true });
    json.buffers![0]!.uri = uri;
    await writeFile(path, JSON.stringify(json));
    if (binary) await writeFile(join(folder, name, 'sub', 'the box.bin'), resources['box.bin']!);
    return path;
  }

  test('a file in the folder or below, and a data URI', async () => {
    expect(box((await read(await gltf('external', 'sub/the%20box.bin'))).mesh)).toEqual(PLAIN);
    expect(box((await read(await write(await jsonOfBox(), 'gltf'))).mesh)).toEqual(PLAIN);
  });

  test('the digest changes with the external buffer', async () => {
    const path = await gltf('digest', 'sub/the%20box.bin');
    const before = (await openMesh(path)).digest;
    expect((await openMesh(path)).digest).toBe(before);
    const bytes = Buffer.from((await io.writeJSON(boxDocument().document, { basename: 'b' })).resources['b.bin']!);
    bytes[0]! ^= 1;
    await writeFile(join(folder, 'digest', 'sub', 'the box.bin'), bytes);
    expect((await openMesh(path)).digest).not.toBe(before);
  });

  test.each([
    '../secret.bin',
    '/etc/passwd',
    'sub/../../secret.bin',
    '%2e%2e/secret.bin',
    'file:///etc/passwd',
    'http://example.org/a.bin',
  ])('the path %s is refused', async uri => {
    await writeFile(join(folder, 'secret.bin'), 'secret');
    await expect(openMesh(await gltf('leaving', uri))).rejects.toThrow('lies outside its folder');
  });

  test('a link that leads out of the folder is refused', async () => {
    const path = await gltf('linked', 'link.bin');
    await writeFile(join(folder, 'secret.bin'), 'secret');
    await symlink('../secret.bin', join(folder, 'linked', 'link.bin'));
    await expect(openMesh(path)).rejects.toThrow('lies outside its folder');
  });

  test('a buffer that is missing or too short is refused', async () => {
    await expect(openMesh(await gltf('missing', 'gone.bin'))).rejects.toThrow(
      /cannot read its buffer "gone.bin": ENOENT/,
    );
    const path = await gltf('short', 'sub/the%20box.bin');
    await writeFile(join(folder, 'short', 'sub', 'the box.bin'), 'short');
    await expect(openMesh(path)).rejects.toThrow(/buffer 0: expected \d+ bytes, got 5/);
  });

  test('textures are not looked for', async () => {
    const text = await jsonOfBox(json => {
      json.images = [{ uri: '../not-there.png' }];
      json.textures = [{ source: 0 }];
      json.materials = [{ pbrMetallicRoughness: { baseColorTexture: { index: 0 } } }];
    });
    expect((await read(await write(text, 'gltf'))).dropped).toEqual(['materials', 'textures']);
  });
});

describe('scenes', () => {
  test('transforms of nodes are applied, down the tree', async () => {
    const { mesh } = await readChanged(({ document, node, scene }) => {
      node.setScale([2, 1, 1]).setTranslation([1, 0, 0]);
      const parent = document.createNode().setTranslation([0, 0, 10]).addChild(node);
      // A quarter turn about y: x becomes −z, z becomes x.
      parent.setRotation([0, Math.SQRT1_2, 0, Math.SQRT1_2]);
      scene.addChild(parent);
    });
    expect(box(mesh)).toEqual(
      near([
        [0, 3],
        [0, 2],
        [7, 9],
      ]),
    );
    expect(volume(mesh)).toBeCloseTo(12, 4);
    expect(normalsPointOut(mesh)).toBe(true);
  });

  test.each([
    [-1, 1, 1],
    [1, -2, 1],
    [-1, -1, -3],
    [-1, -1, 1],
  ])('a scale of %d, %d, %d keeps the outside outside', async (x, y, z) => {
    const { mesh } = await readChanged(({ node }) => node.setScale([x, y, z]));
    expect(volume(mesh)).toBeCloseTo(6 * Math.abs(x * y * z), 4);
    expect(normalsPointOut(mesh)).toBe(true);
  });

  test('a matrix may shear', async () => {
    const text = await jsonOfBox(json => {
      json.nodes![0]!.matrix = [1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1];
    });
    const { mesh } = await read(await write(text, 'gltf'));
    expect(box(mesh)).toEqual(
      near([
        [5, 8],
        [0, 2],
        [0, 3],
      ]),
    );
    expect(volume(mesh)).toBeCloseTo(6, 4);
    expect(normalsPointOut(mesh)).toBe(true);
  });

  test('a mesh on two nodes is there twice; only the default scene is shown', async () => {
    const { mesh } = await readChanged(({ document, mesh: shared, scene }) => {
      scene.addChild(document.createNode().setMesh(shared).setTranslation([10, 0, 0]));
      document.createScene().addChild(document.createNode().setMesh(shared).setTranslation([99, 0, 0]));
      document.getRoot().setDefaultScene(scene);
    });
    expect(box(mesh)).toEqual([
      [0, 11],
      [0, 2],
      [0, 3],
    ]);
    expect(mesh.indices.length).toBe(72);
  });

  test('without a scene, all nodes are shown', async () => {
    const text = await jsonOfBox(json => {
      delete json.scenes;
      delete json.scene;
    });
    expect((await read(await write(text, 'gltf'))).mesh.indices.length).toBe(36);
  });

  test('instances are drawn (EXT_mesh_gpu_instancing)', async () => {
    const { mesh } = await readChanged(({ document, node, accessor }) => {
      const extension = document.createExtension(EXTMeshGPUInstancing).setRequired(true);
      node.setTranslation([0, 100, 0]).setExtension(
        'EXT_mesh_gpu_instancing',
        extension
          .createInstancedMesh()
          .setAttribute('TRANSLATION', accessor('VEC3', Float32Array.of(0, 0, 0, 20, 0, 0, 40, 0, 0)))
          .setAttribute('SCALE', accessor('VEC3', Float32Array.of(1, 1, 1, 1, 1, 1, 1, 2, -1))),
      );
    });
    expect(mesh.indices.length).toBe(36 * 3);
    expect(box(mesh)).toEqual([
      [0, 41],
      [100, 104],
      [-3, 3],
    ]);
    expect(volume(mesh)).toBeCloseTo(6 + 6 + 12, 4);
  });

  test('a skin is baked as its joints stand; the transform of its node does not count', async () => {
    const { mesh, dropped } = await readChanged(({ document, buffer, node, primitive, scene }) => {
      const inverse = Float32Array.of(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -2, 0, 1);
      const identity = Float32Array.of(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1);
      const create = () => document.createAccessor().setBuffer(buffer);
      const joints = [document.createNode(), document.createNode().setTranslation([0, 2, 5])];
      for (const joint of joints) scene.addChild(joint);
      const skin = document.createSkin().setInverseBindMatrices(
        create()
          .setType('MAT4')
          .setArray(Float32Array.of(...identity, ...inverse)),
      );
      for (const joint of joints) skin.addJoint(joint);
      // What is at y = 2 hangs on the second joint.
      const [positions, weights] = [primitive.getAttribute('POSITION')!, new Float32Array(32)];
      for (let v = 0; v < 8; v++) weights[v * 4 + (positions.getElement(v, [])[1]! > 1 ? 1 : 0)] = 1;
      const joint = Uint8Array.from({ length: 32 }, (_, i) => (i % 4 === 1 ? 1 : 0));
      primitive
        .setAttribute('JOINTS_0', create().setType('VEC4').setArray(joint))
        .setAttribute('WEIGHTS_0', create().setType('VEC4').setArray(weights));
      node.setSkin(skin).setTranslation([70, 0, 0]);
    });
    expect(dropped).toEqual(['skins']);
    expect(box(mesh)).toEqual([
      [0, 1],
      [0, 2],
      [0, 8],
    ]);
    const top = [...mesh.positions.keys()].filter(i => i % 3 === 1 && mesh.positions[i] === 2);
    expect(Math.min(...top.map(i => mesh.positions[i + 1]!))).toBe(5);
    expect(volume(mesh)).toBeCloseTo(6, 4);
  });

  test('morph targets stand at their default weights', async () => {
    const { mesh } = await readChanged(({ document, mesh: all, primitive, accessor }) => {
      const up = Float32Array.from({ length: 24 }, (_, i) => (i % 3 === 1 ? 10 : 0));
      primitive.addTarget(document.createPrimitiveTarget().setAttribute('POSITION', accessor('VEC3', up)));
      all.setWeights([0.5]);
    });
    expect(box(mesh)[1]).toEqual([5, 7]);
  });

  test('lights, cameras and animations are dropped, and named', async () => {
    const { dropped } = await readChanged(({ document, scene, node, accessor }) => {
      const light = document.createExtension(KHRLightsPunctual).setRequired(true).createLight().setType('point');
      scene.addChild(document.createNode().setExtension('KHR_lights_punctual', light));
      scene.addChild(
        document.createNode().setCamera(document.createCamera().setType('perspective').setYFov(1).setZNear(1)),
      );
      const sampler = document
        .createAnimationSampler()
        .setInput(accessor('SCALAR', Float32Array.of(0, 1)))
        .setOutput(accessor('VEC3', new Float32Array(6)));
      const channel = document
        .createAnimationChannel()
        .setTargetNode(node)
        .setTargetPath('translation')
        .setSampler(sampler);
      document.createAnimation().addSampler(sampler).addChannel(channel);
    });
    expect(dropped).toEqual(['animations', 'cameras', 'lights']);
  });
});

describe('refusals', () => {
  test.each([
    ['an empty file', 'glb', '', 'an empty file'],
    ['no glTF', 'gltf', 'hello', 'not a glTF'],
    ['another kind of JSON', 'gltf', '{"a": 1}', 'not a valid glTF: asset'],
    ['glTF 1', 'gltf', '{"asset": {"version": "1.0"}}', 'expected glTF 2'],
    ['a GLB that is only a magic number', 'glb', 'glTF', 'it ends after 4 bytes'],
  ])('%s', async (_, extension, text, reason) => {
    await expect(openMesh(await write(text, extension))).rejects.toThrow(reason);
  });

  test('no file, and a folder', async () => {
    await expect(openMesh(join(folder, 'gone.glb'))).rejects.toThrow(InputFault);
    await expect(openMesh(folder)).rejects.toThrow(InputFault);
  });

  test('a GLB that is cut, of another version, or has no JSON', async () => {
    const bytes = Buffer.from(await io.writeBinary(boxDocument().document));
    await expect(openMesh(await write(bytes.subarray(0, -100), 'glb'))).rejects.toThrow(
      /it ends after \d+ of \d+ bytes/,
    );
    const changed = (at: number, value: number) => {
      const copy = Buffer.from(bytes);
      copy.writeUInt32LE(value, at);
      return write(copy, 'glb');
    };
    await expect(openMesh(await changed(4, 1))).rejects.toThrow('got version 1');
    await expect(openMesh(await changed(12, 99_999_999))).rejects.toThrow('beyond the file');
    await expect(openMesh(await changed(16, 7))).rejects.toThrow('it has no JSON');
  });

  type Json = JSONDocument['json'];
  test.each<[string, (json: Json) => void, string]>([
    ['a cyclic node graph', json => json.nodes!.push({ children: [2] }, { children: [1] }), 'cyclic'],
    ['a node that is its own child', json => Object.assign(json.nodes![0]!, { children: [0] }), 'cyclic'],
    [
      'a node with two parents',
      json => json.nodes!.push({ children: [0] }, { children: [0] }),
      'node 0 has two parents',
    ],
    ['a scene that shows a child', json => json.nodes!.push({ children: [0] }), 'is a child'],
    ['a scene that shows a node twice', json => json.scenes![0]!.nodes!.push(0), 'twice'],
    ['a reference to nothing', json => Object.assign(json.nodes![0]!, { mesh: 7 }), 'mesh 7 of 1'],
    ['a child that is not there', json => Object.assign(json.nodes![0]!, { children: [9] }), 'node 9 of 1'],
    [
      'an extension that changes the geometry and is not known',
      json => Object.assign(json, { extensionsRequired: ['EXT_magic_geometry'] }),
      'needs the glTF extension EXT_magic_geometry',
    ],
    ['too many triangles', json => Object.assign(json.accessors![2]!, { count: 150_000_003 }), 'accessors'],
    ['a view beyond its buffer', json => Object.assign(json.bufferViews![0]!, { byteOffset: 400 }), 'bufferView 0'],
    ['an accessor beyond its view', json => Object.assign(json.accessors![0]!, { count: 9 }), 'accessor 0'],
    ['a negative count', json => Object.assign(json.accessors![0]!, { count: -1 }), 'accessors.0.count'],
    ['a node matrix of 15', json => Object.assign(json.nodes![0]!, { matrix: new Array(15).fill(1) }), 'matrix'],
  ])('%s', async (_, change, reason) => {
    const path = await write(await jsonOfBox(change), 'gltf');
    const opened = openMesh(path);
    await expect(opened).rejects.toThrow(InputFault);
    await expect(opened).rejects.toThrow(reason);
  });

  test('50 million triangles by instances, before anything is decoded', async () => {
    const text = await jsonOfBox(json => {
      json.extensionsUsed = ['EXT_mesh_gpu_instancing'];
      json.accessors!.push({ componentType: 5126, type: 'VEC3', count: 5_000_000 });
      json.nodes![0]!.extensions = { EXT_mesh_gpu_instancing: { attributes: { TRANSLATION: 3 } } };
    });
    await expect(openMesh(await write(text, 'gltf'))).rejects.toThrow(
      '60000000 triangles exceed the limit of 50000000',
    );
  });

  test('data filled with zeros is bounded', async () => {
    const text = await jsonOfBox(json => {
      for (let i = 0; i < 2; i++) json.accessors!.push({ componentType: 5126, type: 'VEC3', count: 100_000_000 });
    });
    await expect(openMesh(await write(text, 'gltf'))).rejects.toThrow('unpacks to too much data');
  });

  test('a triangle of a vertex that is not there', async () => {
    const read = readChanged(({ primitive, accessor }) =>
      primitive.setIndices(accessor('SCALAR', Uint16Array.of(0, 1, 8))),
    );
    await expect(read).rejects.toThrow('a triangle of vertex 8, and 8 vertices');
  });

  test.each(['draco', 'meshopt'] as const)('broken %s data; the next file is read all the same', async kind => {
    const { document } = boxDocument();
    compress[kind](document);
    const bytes = Buffer.from(await io.writeBinary(document));
    const binary = bytes.indexOf('BIN\0', 0, 'latin1') + 4;
    bytes.fill(0xa5, binary);
    await expect(read(await write(bytes, 'glb'))).rejects.toThrow(InputFault);
    const { mesh } = await readChanged(({ document: good }) => compress[kind](good));
    expect(box(mesh)).toEqual(near(PLAIN));
  });
});
