/** The banks that scenes draw from, in the order they are made. */
export const BANK_KINDS = [
  'shapes',
  'semantic-shapes',
  'projected-shapes',
  'textures',
  'materials',
  'meshes',
  'environments',
] as const;
export type BankKind = (typeof BANK_KINDS)[number];

/** The files that an item of each kind has beside its label, and the letter before the rank in its ids. */
export const BANK_FORMS: Readonly<Record<BankKind, { readonly letter: string; readonly fields: readonly string[] }>> = {
  shapes: { letter: 'r', fields: ['png'] },
  'semantic-shapes': { letter: 's', fields: ['png'] },
  'projected-shapes': { letter: 'p', fields: ['png'] },
  textures: { letter: 't', fields: ['jpg'] },
  materials: { letter: 'm', fields: ['color.jpg', 'height.jpg', 'metallic.jpg', 'normal.jpg', 'roughness.jpg'] },
  meshes: { letter: 'g', fields: ['mesh'] },
  environments: { letter: 'e', fields: ['rgb9e5'] },
};
