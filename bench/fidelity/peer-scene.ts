import type { Scene3d } from '../../scenes/scene3d.ts';

/** Levels of 0–255, as maps hold them; colour is sRGB. */
export interface ConstantMaterial {
  readonly color: readonly [number, number, number];
  readonly roughness: number;
  readonly metalness: number;
  readonly transmission?: number;
}

/** A scene as the peer's page takes it; arrays as base64. */
export interface PeerScene {
  readonly scene: Scene3d;
  readonly material: ConstantMaterial;
  readonly positions: string;
  readonly normals: string;
  readonly indices: string;
  /** RGBA floats, the lowest row first. */
  readonly panorama: { readonly width: number; readonly height: number; readonly pixels: string };
  readonly bounces: number;
}

declare global {
  var peer: {
    open(scene: PeerScene): Promise<void>;
    begin(): Promise<void>;
    advance(samples: number): number;
    picture(): { pixels: string; samples: number };
  };
}
