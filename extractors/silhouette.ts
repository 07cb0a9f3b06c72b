/** What is white and what is black in a silhouette; the first is the paper's canonical form. */
export const POLARITIES = ['white-on-black', 'black-on-white'] as const;
export type Polarity = (typeof POLARITIES)[number];
