import type {} from '@react-three/fiber'; // its elements are JSX's here
import type { BufferGeometry, Material, Texture } from 'three';
import type { Scene3d as Description } from './scene3d.ts';

/** What a description names, as it lies on the GPU. */
export interface SceneAssets {
  readonly geometry: BufferGeometry;
  readonly material: Material;
  /** The same material, without colour: finds what is in front, so that nothing hidden is shaded. */
  readonly depthOnly: Material;
  /** Draws the panorama, where it is seen through the object; else it is put behind the picture later. */
  readonly backdrop: { readonly geometry: BufferGeometry; readonly material: Material } | undefined;
  /** The panorama's prefiltered light. */
  readonly light: Texture;
}

/** An object of one material in the light of a panorama. */
export function ObjectScene({ description, assets }: { description: Description; assets: SceneAssets }) {
  const { geometry, material, depthOnly, backdrop, light } = assets;
  return (
    <>
      <primitive object={light} attach="environment" />
      {backdrop && <mesh {...backdrop} frustumCulled={false} renderOrder={-1} />}
      <group quaternion={[...description.object.rotation]}>
        <mesh geometry={geometry} material={depthOnly} frustumCulled={false} renderOrder={1} />
        <mesh geometry={geometry} material={material} frustumCulled={false} renderOrder={2} />
      </group>
    </>
  );
}
