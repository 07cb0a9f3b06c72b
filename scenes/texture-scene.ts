import type { Rng } from '../sampling/rng.ts';
import type { TextureCondition } from './conditions.ts';
import { samplePaint, sampleTexturePaint } from './paint.ts';
import type { Textures2dRecipe } from './recipe.ts';
import type { ItemSize, Scene2d, TextureDraw } from './scene2d.ts';

/**
 * Draws one image of a texture instance (LAS&T, 2D textures): the shape fills the frame and is not rotated, the texture
 * is cropped and turned; the background is black, a colour or a texture of another photo.
 * @param shape the image's shape: one for the whole instance or one per image, as the condition says (the caller draws it).
 */
export function sampleTextureScene(
  rng: Rng,
  recipe: Textures2dRecipe,
  condition: TextureCondition,
  texture: ItemSize,
  shape: ItemSize,
  drawTexture: TextureDraw,
): Scene2d {
  const { size } = recipe;
  return {
    size,
    shape: { id: shape.id },
    placement: {
      scale: size / Math.max(shape.width, shape.height),
      rotation: 0,
      center: [size / 2, size / 2],
    },
    fill: sampleTexturePaint(rng, texture, size),
    background: samplePaint(rng, condition.background, size, () => drawTexture(texture.id)),
  };
}
