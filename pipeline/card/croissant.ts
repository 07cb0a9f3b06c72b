import { stat } from 'node:fs/promises';
import { is3d, type Subset } from '../generate-options.ts';
import { AOV_FIELDS, type Aov } from '../rendering.ts';
import { sha256OfFile } from '../sha256.ts';
import { VERSION } from '../version.ts';
import { ATTRIBUTION_COLUMNS } from './attribution.ts';
import { type LicenceCounts, namedLicences } from './licence-section.ts';
import type { PanelList, RunContents, RunShard, UsedSource } from './survey.ts';

/** The terms of Croissant 1.1 by their short names, as its specification recommends (appendix 1), and PROV-O for sources. */
const CONTEXT = {
  '@language': 'en',
  '@vocab': 'http://schema.org/',
  sc: 'http://schema.org/',
  cr: 'http://mlcommons.org/croissant/',
  rai: 'http://mlcommons.org/croissant/RAI/',
  dct: 'http://purl.org/dc/terms/',
  prov: 'http://www.w3.org/ns/prov#',
  conformsTo: 'dct:conformsTo',
  data: { '@id': 'cr:data', '@type': '@json' },
  dataType: { '@id': 'cr:dataType', '@type': '@vocab' },
  examples: { '@id': 'cr:examples', '@type': '@json' },
  ...Object.fromEntries(
    [
      'annotation',
      'arrayShape',
      'citeAs',
      'column',
      'containedIn',
      'equivalentProperty',
      'excludes',
      'extract',
      'field',
      'fileObject',
      'fileProperty',
      'fileSet',
      'format',
      'includes',
      'isArray',
      'isLiveDataset',
      'jsonPath',
      'key',
      'md5',
      'parentField',
      'readLines',
      'recordSet',
      'references',
      'regex',
      'sdVersion',
      'separator',
      'source',
      'subField',
      'transform',
      'unArchive',
      'value',
    ].map(term => [term, `cr:${term}`]),
  ),
};

const reference = (id: string) => ({ '@id': id });

/** A file set in the shards of a subset, and the field of a record that it gives. */
interface ImageField {
  readonly field: string;
  readonly extension: string;
  readonly format: string;
  readonly types: string | readonly string[];
  readonly description: string;
}

const MASKED: readonly ImageField[] = [
  {
    field: 'image',
    extension: 'jpg',
    format: 'image/jpeg',
    types: 'sc:ImageObject',
    description: 'the image',
  },
  {
    field: 'mask',
    extension: 'mask.png',
    format: 'image/png',
    types: ['cr:SegmentationMask', 'sc:ImageObject'],
    description: 'what of the image the instance covers: grey, 255 all of a pixel',
  },
];
const SILHOUETTES: readonly ImageField[] = [
  { field: 'hq', extension: 'hq.jpg', format: 'image/jpeg', types: 'sc:ImageObject', description: 'in full colour' },
  ...(
    [
      ['silhouette', ['cr:SegmentationMask', 'sc:ImageObject'], 'its silhouette'],
      ['edge', 'sc:ImageObject', 'its edges'],
      ['grey', 'sc:ImageObject', 'in grey, without its ground'],
    ] as const
  ).map(([field, types, description]) => ({
    field,
    extension: `${field}.png`,
    format: 'image/png',
    types,
    description,
  })),
];

/** What 3D images may have beside them; a reader needs the scale from the label. */
const GEOMETRY: Readonly<Record<Aov, ImageField>> = {
  depth: {
    field: 'depth',
    extension: AOV_FIELDS.depth,
    format: 'image/png',
    types: 'sc:ImageObject',
    description:
      'depth along the axis of the camera, 16-bit grey: times depth_scale in longest sides of the object; 0: nothing',
  },
  normal: {
    field: 'normal',
    extension: AOV_FIELDS.normal,
    format: 'image/png',
    types: 'sc:ImageObject',
    description:
      'unit normals in the axes of the camera, 16-bit RGB: times normal_scale, minus 1; 0 in all channels: nothing',
  },
};

/** Values of a label: name of the field, its type, where it stands, what it is. */
const COMMON = [
  ['split', ['sc:Text', 'cr:Split'], '$.split', 'train, val or test; cut by source'],
  ['instance', 'sc:Integer', '$.instance.number', 'the same for all images of an instance, unique in the subset'],
  ['instance_id', 'sc:Text', '$.instance.id', 'the bank item that stays the same'],
  ['variation', 'sc:Integer', '$.variation', 'number of the image among those of its instance'],
] as const;
const VALUES: Readonly<Record<Subset, readonly (readonly [string, string, string, string])[]>> = {
  shapes2d: [['condition', 'sc:Text', '$.condition', 'what varies between the images of an instance']],
  textures2d: [['condition', 'sc:Text', '$.condition', 'what varies between the images of an instance']],
  shapes3d: [],
  materials3d: [],
  silhouettes: [
    ['label', 'sc:Text', '$.annotated.label', 'the class, as a model is scored on it'],
    ['dataset', 'sc:Text', '$.annotated.dataset', 'the segmentation dataset it is from'],
  ],
};

/** What identifies a dataset. */
export interface Identity {
  readonly name: string;
  readonly description: string;
  /** ISO 8601. */
  readonly date: string;
}

/**
 * The Croissant 1.1 description of a run.
 * @param attribution path of `attribution.csv`, which is part of it. @param aov what 3D images have beside them.
 */
export async function croissant(
  { name, description, date }: Identity,
  { shards, panels }: RunContents,
  sources: readonly UsedSource[],
  attribution: string,
  aov: readonly Aov[],
): Promise<object> {
  const subsets = [...new Set(shards.flatMap(({ subset }) => subset ?? []))];
  const shardsOf = (subset: Subset) => shards.filter(shard => shard.subset === subset);
  return {
    '@context': CONTEXT,
    '@type': 'sc:Dataset',
    conformsTo: 'http://mlcommons.org/croissant/1.1',
    name,
    description,
    license: licences(countLicences(sources)),
    // Required, and known to the publisher alone: the card says what to fill in. The address is one that can never be anybody's.
    url: 'https://example.org/to-be-filled-in',
    creator: { '@type': 'sc:Organization', name: 'to be filled in: who publishes this dataset' },
    datePublished: date,
    version: '1.0.0',
    isLiveDataset: false,
    'prov:wasGeneratedBy': {
      '@type': 'prov:Activity',
      'prov:label': `shapemill ${VERSION} generate; run.json has all settings`,
    },
    'prov:wasDerivedFrom': packs(sources),
    distribution: [
      ...shards.map(({ path, bytes, sha256 }) => fileObject(path, 'application/x-tar', bytes, sha256)),
      ...panels.map(({ path, bytes, sha256 }) => fileObject(path, 'application/jsonl', bytes, sha256)),
      fileObject('attribution.csv', 'text/csv', (await stat(attribution)).size, await sha256OfFile(attribution)),
      ...subsets.flatMap(subset => fileSets(subset, shardsOf(subset), aov)),
      ...panels.map(panelPictures),
    ],
    recordSet: [...subsets.map(subset => recordSet(subset, aov)), ...panels.map(panelRecords), sourceRecords()],
  };
}

/** How many sources are under each licence. */
export function countLicences(sources: readonly UsedSource[]): LicenceCounts {
  const counts = new Map<string | null, number>();
  for (const { licence } of sources) counts.set(licence, (counts.get(licence) ?? 0) + 1);
  return counts;
}

/** Of the sources: by address where there is one. */
function licences(counts: LicenceCounts): (string | object)[] {
  const named = namedLicences(counts).map(({ id, url }) => url ?? { '@type': 'sc:CreativeWork', name: id });
  return named.length > 0 ? named : [{ '@type': 'sc:CreativeWork', name: 'nothing was made from any source yet' }];
}

/** The packs that sources are from; the sources themselves are the records of `sources`. */
function packs(sources: readonly UsedSource[]): object[] {
  const byPack = new Map<string, UsedSource[]>();
  for (const source of sources) {
    const files = byPack.get(source.pack);
    if (files) files.push(source);
    else byPack.set(source.pack, [source]);
  }
  return [...byPack].map(([pack, files]) => ({
    '@type': 'prov:Entity',
    '@id': `pack/${encodeURIComponent(pack)}`,
    'prov:label': pack,
    name: pack,
    description: `${files.length} of its files are listed in attribution.csv`,
    license: licences(countLicences(files)),
  }));
}

function fileObject(path: string, format: string, bytes: number, sha256: string): object {
  return {
    '@type': 'cr:FileObject',
    '@id': path,
    name: path,
    contentUrl: path,
    contentSize: `${bytes} B`,
    encodingFormat: format,
    sha256,
  };
}

function imagesOf(subset: Subset, aov: readonly Aov[]): readonly ImageField[] {
  if (subset === 'silhouettes') return SILHOUETTES;
  return is3d(subset) ? [...MASKED, ...aov.map(name => GEOMETRY[name])] : MASKED;
}

function fileSets(subset: Subset, shards: readonly RunShard[], aov: readonly Aov[]): object[] {
  const containedIn = shards.map(({ path }) => reference(path));
  const set = (id: string, format: string, extension: string) => ({
    '@type': 'cr:FileSet',
    '@id': `${subset}-${id}-files`,
    name: `${subset}-${id}-files`,
    description: `*.${extension} in the shards of ${subset}`,
    containedIn,
    encodingFormat: format,
    includes: `*.${extension}`,
  });
  return [
    ...imagesOf(subset, aov).map(({ field, format, extension }) => set(field, format, extension)),
    set('label', 'application/json', 'json'),
  ];
}

const scaleOf = (name: Aov) =>
  [`${name}_scale`, 'sc:Float', `$.aov["${AOV_FIELDS[name]}"].scale`, `what a stored 1 of ${name} is`] as const;

/** A record a sample: its images and values of its label, joined by the sample's key. */
function recordSet(subset: Subset, aov: readonly Aov[]): object {
  const key = `${subset}/key`;
  const labels = reference(`${subset}-label-files`);
  const fromLabel = (jsonPath: string) => ({ fileSet: labels, extract: { jsonPath } });
  return {
    '@type': 'cr:RecordSet',
    '@id': subset,
    name: subset,
    description: `the samples of ${subset}`,
    key: reference(key),
    field: [
      field(subset, 'key', 'sc:Text', 'unique over all splits', { source: fromLabel('$.key') }),
      ...imagesOf(subset, aov).flatMap(({ field: name, extension, types, description }) => {
        const fileSet = reference(`${subset}-${name}-files`);
        const regex = `^([^.]+)\\.${extension.replaceAll('.', '\\.')}$`;
        return [
          field(subset, `${name}_key`, 'sc:Text', `key of the sample that ${name} is of`, {
            source: { fileSet, extract: { fileProperty: 'filename' }, transform: { regex } },
            references: reference(key),
          }),
          field(subset, name, types, description, { source: { fileSet, extract: { fileProperty: 'content' } } }),
        ];
      }),
      ...[...COMMON, ...VALUES[subset], ...(is3d(subset) ? aov.map(scaleOf) : [])].map(
        ([name, types, jsonPath, description]) =>
          field(subset, name, types, description, { source: fromLabel(jsonPath) }),
      ),
    ],
  };
}

const picturesId = (condition: string) => `panels-${condition}-picture-files`;

/** The pictures of a condition's tests. They are in no archive: the pattern counts from the folder of this description. */
function panelPictures({ condition }: PanelList): object {
  return {
    '@type': 'cr:FileSet',
    '@id': picturesId(condition),
    name: picturesId(condition),
    description: `pictures of the panel tests of ${condition}, in the folder of this description`,
    encodingFormat: 'image/jpeg',
    includes: `panels/${condition}/*.jpg`,
  };
}

/** Values of a panel test beside its picture, as {@link COMMON}. */
const TEST = [
  ['id', 'sc:Text', '$.id', 'unique over all conditions'],
  ['condition', 'sc:Text', '$.condition', 'what the panels have in common'],
  ['question', 'sc:Text', '$.question', 'the prompt'],
  ['choices', 'sc:Text', '$.choices', 'letters of the panels that may be the answer'],
  ['answer', 'sc:Text', '$.answer', 'letter of the panel that shows what panel A shows'],
  ['chance', 'sc:Float', '$.chance', 'share of right answers that guessing gives'],
] as const;

/** A record a test of a condition: a line of its list, and its picture, joined by the picture's name. */
function panelRecords({ condition, path }: PanelList): object {
  const id = `panels-${condition}`;
  const fileSet = reference(picturesId(condition));
  const fromList = (jsonPath: string) => ({ fileObject: reference(path), extract: { jsonPath } });
  return {
    '@type': 'cr:RecordSet',
    '@id': id,
    name: id,
    description: `panel tests of ${condition}: which of the panels B, C and D shows what panel A shows?`,
    key: reference(`${id}/id`),
    field: [
      ...TEST.map(([name, type, jsonPath, description]) => ({
        ...field(id, name, type, description, { source: fromList(jsonPath) }),
        ...(name === 'choices' && { isArray: true, arrayShape: '3' }),
      })),
      field(id, 'file', 'sc:Text', 'name of the picture', { source: fromList('$.image') }),
      field(id, 'image_file', 'sc:Text', 'name of the picture that image is', {
        source: { fileSet, extract: { fileProperty: 'filename' } },
        references: reference(`${id}/file`),
      }),
      field(id, 'image', 'sc:ImageObject', 'the four panels: A upper left, B upper right, C and D below', {
        source: { fileSet, extract: { fileProperty: 'content' } },
      }),
    ],
  };
}

function sourceRecords(): object {
  return {
    '@type': 'cr:RecordSet',
    '@id': 'sources',
    name: 'sources',
    description: 'the photographs, meshes, panoramas and pictures that the samples were made from',
    field: ATTRIBUTION_COLUMNS.map(column => ({
      ...field('sources', column, column === 'times' ? 'sc:Integer' : 'sc:Text', DESCRIPTIONS[column], {
        source: { fileObject: reference('attribution.csv'), extract: { column } },
      }),
      ...(EQUIVALENT[column] && { equivalentProperty: EQUIVALENT[column] }),
    })),
  };
}

const DESCRIPTIONS: Readonly<Record<(typeof ATTRIBUTION_COLUMNS)[number], string>> = {
  id: 'id in labels',
  pack: 'asset pack or dataset',
  file: 'path within the pack',
  author: 'empty: not known',
  licence: 'SPDX expression; empty: not known',
  url: 'where it or its licence is published',
  changes: 'what its pack did to the author’s file; empty: nothing',
  used_in: 'places with the number of labels there that name it',
  times: 'labels that name it',
};
const EQUIVALENT: Partial<Readonly<Record<(typeof ATTRIBUTION_COLUMNS)[number], string>>> = {
  author: 'sc:creator',
  licence: 'sc:license',
  url: 'sc:url',
};

function field(
  recordSetId: string,
  name: string,
  dataType: string | readonly string[],
  description: string,
  rest: object,
): object {
  return { '@type': 'cr:Field', '@id': `${recordSetId}/${name}`, name, description, dataType, ...rest };
}
