/** 8-bit sRGB pixels, interleaved: `data[3 * (row * width + column) + channel]`, rows from the top. */
export interface RgbImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** One 8-bit value a pixel, rows from the top: a colour channel, or a coverage of 0–255. */
export interface GreyImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** A binary picture: a {@link GreyImage} that holds nothing but 0 (background) and 255 (shape). */
export type Mask = GreyImage;

/** Pixel rectangle; `left` and `top` count from the upper left corner, 0-indexed. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}
