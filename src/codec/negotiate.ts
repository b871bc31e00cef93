import { compatibleDomain, type Names, namesFor, StatusError, statusError } from '../meta/index.ts';

/** Forms in which bodies travel. */
export type MediaType = 'json' | 'yaml' | 'protobuf';
export type PatchFormat = 'json' | 'merge' | 'strategic' | 'apply';

/** Another kind that an answer can be asked to have: `;as=Table;g=meta.<domain>;v=v1`. */
export interface Transform {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
}

/** What an endpoint can answer with. */
export interface Offer {
  /** What it produces, best first. */
  readonly types: readonly MediaType[];
  /** What it says it produces: it may list more than it does. */
  readonly listed: readonly MediaType[];
  /** Can be watched. */
  readonly watchable: boolean;
  /**
   * The way there is chosen by the names of the media types alone, before anybody looks at their parameters, and what is
   * refused there is told so: with the streams of a collection, or without. `none`: everything is looked at at once.
   */
  readonly route: 'none' | 'plain' | 'streams';
  readonly transforms: readonly Transform[];
}

/** How one answer will be written. */
export interface Representation {
  readonly mediaType: MediaType;
  /** The media type as the client spells it. */
  readonly name: string;
  /** The kind that the client wants instead of the object's own. */
  readonly as: Transform | undefined;
  /** Indented, because the media type said so; see {@link wantsPretty} for the rest of the request. */
  readonly pretty: boolean;
}

/** How many headers an endpoint remembers, and how long they may be. */
const MEMO_SIZE = 256;
const MEMO_LENGTH = 1024;

const JSON_TYPE = 'application/json';

/** The media type as headers spell it. */
function mediaTypeName(type: MediaType, names: Names): string {
  return type === 'json' ? JSON_TYPE : type === 'yaml' ? 'application/yaml' : names.protobufMediaType;
}

/** What existing clients call the protobuf form, under every domain. */
const compatibleProtobuf = namesFor(compatibleDomain).protobufMediaType;

/** All names of a media type, that of the domain first. */
function mediaTypeNames(type: MediaType, names: Names): string[] {
  const own = mediaTypeName(type, names);
  return type === 'protobuf' && own !== compatibleProtobuf ? [own, compatibleProtobuf] : [own];
}

/** Tables and bare metadata, which every resource can be shown as. */
export function metaTransforms(names: Names): Transform[] {
  const group = `meta.${names.domain}`;
  return ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'].flatMap((kind) =>
    ['v1', 'v1beta1'].map((version) => ({ kind, group, version })),
  );
}

/**
 * The choice among what an endpoint offers by the `Accept` header; no header accepts anything. The usual headers cost
 * one look into a map.
 * @returns a function that throws StatusError 406 when nothing fits
 */
export function negotiator(offer: Offer, names: Names): (accept: string | undefined) => Representation {
  const memo = new Map<string, Representation>();
  return (header) => {
    const accept = header || '*/*';
    const known = memo.get(accept);
    if (known !== undefined) return known;
    const chosen = choose(accept, offer, names);
    if (accept.length <= MEMO_LENGTH) {
      if (memo.size >= MEMO_SIZE) memo.clear();
      memo.set(accept, chosen);
    }
    return chosen;
  };
}

/** Of some media types the one that an `Accept` header asks for first; undefined when it asks for none of them. */
export function mostWanted<T extends string>(accept: string | undefined, types: readonly T[]): T | undefined {
  for (const { range } of parseAccept(accept || '*/*')) {
    const found = types.find((type) => covers(range, type));
    if (found !== undefined) return found;
  }
  return undefined;
}

function choose(accept: string, offer: Offer, names: Names): Representation {
  const clauses = parseAccept(accept);
  const listed = offer.listed.map((type) => mediaTypeName(type, names));
  const known = offer.listed.flatMap((type) => mediaTypeNames(type, names));
  if (offer.route !== 'none' && !clauses.some(({ range }) => range === '*/*' || known.includes(range))) {
    const streams = offer.route === 'plain' ? [] : listed.filter((type) => type !== 'application/yaml');
    throw statusError.notAcceptable([...listed, ...streams.map((type) => `${type};stream=watch`)]);
  }
  for (const clause of clauses) {
    for (const mediaType of offer.types) {
      const name = mediaTypeNames(mediaType, names).find((one) => covers(clause.range, one));
      const found = name === undefined ? undefined : represent(clause, mediaType, offer);
      if (name !== undefined && found !== undefined) return { ...found, name };
    }
  }
  throw new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${listed.join(', ')}`);
}

/** One media type, or range of them, of an `Accept` header, with its parameters. */
interface Clause {
  readonly range: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** The clauses of a header, the most wanted first; among equals the more exact, then the earlier. None is ruled out by 0. */
function parseAccept(accept: string): Clause[] {
  const vague = ({ range }: Clause) => (range === '*/*' ? 2 : range.endsWith('/*') ? 1 : 0);
  return accept
    .split(',')
    .map(parseClause)
    .filter(({ range }) => range !== '')
    .sort((a, b) => b.quality - a.quality || vague(a) - vague(b));
}

function parseClause(text: string): Clause {
  const [range = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters = new Map(
    rest.map((parameter) => {
      const [name = '', value = ''] = parameter.split('=');
      return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1')];
    }),
  );
  const quality = Number(parameters.get('q') ?? 1);
  return { range: range.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 0 : quality };
}

const covers = (range: string, type: string): boolean =>
  range === type || range === '*/*' || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)));

/** The representation that a clause asks for; undefined when the endpoint cannot give it. */
function represent(
  { parameters }: Clause,
  mediaType: MediaType,
  offer: Offer,
): Omit<Representation, 'name'> | undefined {
  const stream = parameters.get('stream');
  if (stream !== undefined && !(stream === 'watch' && offer.watchable)) return undefined;
  const pretty = parameters.get('pretty') === '1';
  const kind = parameters.get('as');
  if (kind === undefined) return { mediaType, as: undefined, pretty };
  // A table has no protobuf form.
  if (kind === 'Table' && mediaType === 'protobuf') return undefined;
  const as = offer.transforms.find(
    (t) => t.kind === kind && t.group === (parameters.get('g') ?? '') && t.version === (parameters.get('v') ?? ''),
  );
  return as === undefined ? undefined : { mediaType, as, pretty };
}

/** Whether an answer is written for a person: by the `pretty` query parameter, else by the program that asks. */
export function wantsPretty(pretty: string | undefined, userAgent: string | undefined): boolean {
  if (pretty !== undefined && pretty !== '') return /^(?:1|t|T|true|True|TRUE)$/.test(pretty);
  return userAgent !== undefined && /^(?:curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}

const essence = (contentType: string | undefined): string =>
  (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

/**
 * The form of a request's body; without a header it is JSON. `types` is what the endpoint reads, `listed` what it says.
 * @throws StatusError 415
 */
export function bodyType(
  contentType: string | undefined,
  { types, listed }: Pick<Offer, 'types' | 'listed'>,
  names: Names,
): MediaType {
  const name = essence(contentType) || JSON_TYPE;
  const found = types.find((type) => mediaTypeNames(type, names).includes(name));
  if (found !== undefined) return found;
  throw statusError.unsupportedMediaType(listed.map((type) => mediaTypeName(type, names)));
}

const PATCHES: readonly (readonly [string, PatchFormat])[] = [
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
];

/**
 * The kind of a patch. Types that were defined at run time know no `strategic` one.
 * @throws StatusError 415
 */
export function patchFormat(contentType: string | undefined, { strategic }: { strategic: boolean }): PatchFormat {
  const name = essence(contentType);
  const known = PATCHES.filter(([, format]) => strategic || format !== 'strategic');
  const found = known.find(([type]) => type === name);
  if (found !== undefined) return found[1];
  if (!strategic) throw statusError.unsupportedMediaType(known.map(([type]) => type));
  throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}
