export const RGB_CHANNELS = ['r', 'g', 'b'] as const;
export const HSV_CHANNELS = ['h', 's', 'v'] as const;

/** Red, green, blue, hue, saturation or value. */
export type Channel = (typeof RGB_CHANNELS)[number] | (typeof HSV_CHANNELS)[number];

/** The largest value of a channel: OpenCV's 8-bit hue counts steps of 2°, 0–179; all others run to 255. */
export function channelMaximum(channel: Channel): number {
  return channel === 'h' ? 179 : 255;
}
