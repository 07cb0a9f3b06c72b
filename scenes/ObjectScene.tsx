import type {} from '@react-three/fiber'; // its elements are JSX's here
import type { BufferGeometry, Material, Texture } from 'three';
import type { Scene3d as Description } from './scene3d.ts';

/** What a description names, as it lies on the GPU. */
export interface SceneAssets {
  readonly geometry: BufferGeometry;
  readonly material: Material;
  /** A triangle that fills the view, and what draws the panorama on it. */
  readonly backdrop: BufferGeometry;
  readonly background: Material;
  /** The panorama's prefiltered light. */
  readonly light: Texture;
}

/** An object of one material in the light of a panorama, in front of that panorama. */
export function ObjectScene({ description, assets }: { description: Description; assets: SceneAssets }) {
  const { geometry, material, backdrop, background, light } = assets;
  return (
    <>
      <primitive object={light} attach="environment" />
      <mesh geometry={backdrop} material={background} frustumCulled={false} renderOrder={-1} />
      <mesh
        geometry={geometry}
        material={material}
        quaternion={[...description.object.rotation]}
        frustumCulled={false}
      />
    </>
  );
}
