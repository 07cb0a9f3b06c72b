import sharp from 'sharp';
import type { GreyImage, RgbImage } from '../../extractors/image.ts';
import { drawLetter, FRAME, type LetterPlace, placeLetters } from '../../renderers/letters.ts';
import { PANEL_SIZE, PANELS, type PanelName, panelBox, SHEET_SIZE } from '../../scenes/panel-scene.ts';
import type { PanelTest } from '../labels.ts';

/** The picture of a test while its panels are drawn: A and B above C and D, a grey cross between them. */
export class PanelSheet {
  readonly image: RgbImage = {
    width: SHEET_SIZE,
    height: SHEET_SIZE,
    data: new Uint8Array(3 * SHEET_SIZE * SHEET_SIZE).fill(FRAME),
  };

  /** Puts a panel's picture in its place. */
  put(panel: PanelName, { data }: RgbImage): void {
    const { left, top } = panelBox(panel);
    const row = 3 * PANEL_SIZE;
    for (let y = 0; y < PANEL_SIZE; y++) {
      this.image.data.set(data.subarray(y * row, (y + 1) * row), 3 * ((top + y) * SHEET_SIZE + left));
    }
  }

  /** Draws the letters, last of all. @param masks of all panels; undefined where nobody knows what is to be seen. */
  letter(masks: readonly GreyImage[] | undefined): LetterPlace {
    const place = placeLetters(masks);
    for (const panel of PANELS) drawLetter(this.image, panel, place, panelBox(panel));
    return place;
  }

  /**
   * The picture as a JPEG, its colours at full resolution: a shape and its ground may differ in nothing else. Tables fitted
   * to the picture take as long as all the rest together, for 3 % fewer bytes: left out.
   */
  encode(quality: number): Promise<Buffer> {
    const { data, width, height } = this.image;
    return sharp(data, { raw: { width, height, channels: 3 } })
      .jpeg({ quality, chromaSubsampling: '4:4:4', optimiseCoding: false })
      .toBuffer();
  }
}

type Source = PanelTest['sources'][number];

/** Who made what a test shows, each once a role, with the panels that show it. */
export class PanelSources {
  readonly #sources = new Map<string, Source>();

  add(panel: PanelName, source: Omit<Source, 'panels'>): void {
    const key = `${source.role} ${source.id} ${source.photo}`;
    const known = this.#sources.get(key);
    if (known) known.panels.push(panel);
    else this.#sources.set(key, { ...source, panels: [panel] });
  }

  list(): Source[] {
    return [...this.#sources.values()];
  }
}
