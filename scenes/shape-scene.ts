import { integer, uniform } from '../sampling/distributions.ts';
import type { Rng } from '../sampling/rng.ts';
import type { ShapeCondition } from './conditions.ts';
import { sampleColourPair, samplePaint, solid } from './paint.ts';
import type { Shapes2dRecipe } from './recipe.ts';
import type { ItemSize, Paint, Placement, Scene2d, TextureDraw } from './scene2d.ts';

/**
 * Draws one image of a shape instance: where the shape lies, what fills it and what lies behind (LAS&T, 2D shapes).
 * Fill and background textures come from different photos.
 * @param drawTexture draws from the textures of the instance's split; called only where the condition has a texture.
 */
export function sampleShapeScene(
  rng: Rng,
  recipe: Shapes2dRecipe,
  condition: ShapeCondition,
  shape: ItemSize,
  drawTexture: TextureDraw,
): Scene2d {
  const placement = samplePlacement(rng, recipe, condition.rotated, shape);
  const { fill, background } = samplePaints(rng, recipe.size, condition, drawTexture);
  return { size: recipe.size, shape: { id: shape.id }, placement, fill, background };
}

/** Long side uniform, a whole number of degrees, shrunk when the turned box exceeds the image, placed uniformly where it fits. */
function samplePlacement(rng: Rng, recipe: Shapes2dRecipe, rotated: boolean, shape: ItemSize): Placement {
  const { size, longSide } = recipe;
  const drawn = (uniform(rng, longSide[0], longSide[1]) * size) / Math.max(shape.width, shape.height);
  const rotation = rotated ? integer(rng, 0, 359) : 0;
  const [boxWidth, boxHeight] = turnedBox(shape, rotation);
  const scale = Math.min(drawn, size / Math.max(boxWidth, boxHeight));
  const place = (extent: number) => uniform(rng, (extent * scale) / 2, size - (extent * scale) / 2);
  return { scale, rotation, center: [place(boxWidth), place(boxHeight)] };
}

/** Width and height of the smallest upright box around a turned rectangle. */
export function turnedBox(box: { width: number; height: number }, degrees: number): [number, number] {
  const sin = Math.abs(Math.sin((degrees * Math.PI) / 180));
  const cos = Math.abs(Math.cos((degrees * Math.PI) / 180));
  return [box.width * cos + box.height * sin, box.width * sin + box.height * cos];
}

function samplePaints(
  rng: Rng,
  size: number,
  condition: ShapeCondition,
  drawTexture: TextureDraw,
): { fill: Paint; background: Paint } {
  if (condition.shape === 'colour' && condition.background === 'colour') {
    const [fill, background] = sampleColourPair(rng);
    return { fill: solid(fill), background: solid(background) };
  }
  const fill = samplePaint(rng, condition.shape, size, () => drawTexture());
  const not = fill.kind === 'texture' ? fill.id : undefined;
  const background = samplePaint(rng, condition.background, size, () => drawTexture(not));
  return { fill, background };
}
