import { type JsonObject, type Names, StatusError, statusError } from '../../meta/index.ts';
import type { Representation } from '../../registry/index.ts';
import type { RequestInfo } from '../request-info.ts';
import type { ApiRequest, ApiResponse, RequestHeaders } from '../types.ts';
import type { BodyReader, StreamingCodec, WireCodec, WireFormat } from './wire-codec.ts';

export type PatchFormat = 'json' | 'merge' | 'strategic' | 'apply';

/** A media type of patches. */
export interface PatchType {
  readonly mediaType: string;
  readonly format: PatchFormat;
  readonly reader: BodyReader;
}

/** Another kind that a client can request instead of the object's own: `;as=Table;g=meta.<domain>;v=v1`. */
export interface Transform {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
}

/** The representations that an endpoint offers. */
export interface Offer<T extends WireFormat> {
  /** The codecs of the endpoint, the default first. */
  readonly codecs: readonly T[];
  /** The codecs that 406 responses list, possibly more than `codecs`. */
  readonly listed: readonly T[];
  /**
   * Some endpoints first compare whole media types without their parameters and have a special 406 message for this:
   * `streams` lists the watch streams of a collection, `plain` does not, `none` has no such comparison.
   */
  readonly route: 'none' | 'plain' | 'streams';
  /** The response is a stream: the media type that the client prefers must have one. */
  readonly streaming?: boolean;
  readonly transforms: readonly Transform[];
}

/** The outcome of the negotiation for a response. */
export interface Accepted<T extends WireFormat> {
  readonly codec: T;
  /** The media type, as the client named it. */
  readonly mediaType: string;
  /** The kind that the client requests instead of the object's own. */
  readonly as: Transform | undefined;
  /** The media type has the parameter `pretty=1`. See {@link wantsPretty} for the rest of the request. */
  readonly pretty: boolean;
}

/** Maximum number of Accept headers that an endpoint caches, and their maximum length (characters). */
const MEMO_SIZE = 256;
const MEMO_LENGTH = 1024;

const JSON_TYPE = 'application/json';

/** Table and PartialObjectMetadata, which are available for every resource. */
export function metaTransforms(names: Names): Transform[] {
  const group = `meta.${names.domain}`;
  return ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'].flatMap((kind) =>
    ['v1', 'v1beta1'].map((version) => ({ kind, group, version })),
  );
}

/**
 * Negotiates by the `Accept` header; without one everything is acceptable. The result of `form` is cached by header, so
 * that a common header costs a lookup.
 * @returns a function that throws StatusError 406 when the endpoint offers nothing acceptable
 */
export function negotiator<T extends WireFormat>(offer: Offer<T>): (accept: string | undefined) => Accepted<T>;
export function negotiator<T extends WireFormat, Form>(
  offer: Offer<T>,
  form: (accepted: Accepted<T>) => Form,
): (accept: string | undefined) => Form;
export function negotiator<T extends WireFormat>(
  offer: Offer<T>,
  form: (accepted: Accepted<T>) => unknown = (accepted) => accepted,
): (accept: string | undefined) => unknown {
  const memo = new Map<string, unknown>();
  return (header) => {
    const accept = header || '*/*';
    const known = memo.get(accept);
    if (known !== undefined) return known;
    const accepted = form(choose(accept, offer));
    if (accept.length <= MEMO_LENGTH) {
      if (memo.size >= MEMO_SIZE) memo.clear();
      memo.set(accept, accepted);
    }
    return accepted;
  };
}

/** The media type that an `Accept` header prefers; undefined when it accepts none of them. */
export function preferredMediaType<T extends string>(accept: string | undefined, types: readonly T[]): T | undefined {
  for (const { range } of parseAccept(accept || '*/*')) {
    const found = types.find((type) => covers(range, type));
    if (found !== undefined) return found;
  }
  return undefined;
}

function choose<T extends WireFormat>(accept: string, offer: Offer<T>): Accepted<T> {
  const clauses = parseAccept(accept);
  const listed = offer.listed.map(({ mediaTypes: [name] }) => name);
  const streamed = offer.listed.flatMap(({ watch }) => watch?.listed ?? []);
  const streams = offer.route === 'streams' ? streamed : [];
  const known = [...offer.listed.flatMap(({ mediaTypes }) => mediaTypes), ...streams];
  if (offer.route !== 'none' && !clauses.some(({ range }) => range === '*/*' || known.includes(range))) {
    throw statusError.notAcceptable([...listed, ...streams]);
  }
  const found = preferred(clauses, offer);
  if (found === undefined) throw onlyAccepted(listed);
  if (offer.streaming === true && found.codec.watch === undefined) throw onlyAccepted(streamed);
  return found;
}

const onlyAccepted = (types: readonly string[]): StatusError =>
  new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${types.join(', ')}`);

function preferred<T extends WireFormat>(clauses: readonly Clause[], offer: Offer<T>): Accepted<T> | undefined {
  for (const clause of clauses) {
    for (const codec of offer.codecs) {
      const mediaType = codec.mediaTypes.find((one) => covers(clause.range, one));
      const options = mediaType === undefined ? undefined : acceptedOptions(clause, codec, offer);
      if (mediaType !== undefined && options !== undefined) return { codec, mediaType, ...options };
    }
  }
  return undefined;
}

/** A media range of an `Accept` header with its parameters. */
interface Clause {
  readonly range: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** The clauses by quality, then by precision, then in their order. A quality of 0 does not exclude a type. */
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

/** Returns the representation that a clause requests; undefined when the endpoint does not offer it. */
function acceptedOptions(
  { parameters }: Clause,
  codec: WireFormat,
  { transforms }: Offer<WireFormat>,
): Pick<Accepted<WireFormat>, 'as' | 'pretty'> | undefined {
  const stream = parameters.get('stream');
  if (stream !== undefined && !(stream === 'watch' && codec.watch !== undefined)) return undefined;
  const pretty = parameters.get('pretty') === '1';
  const kind = parameters.get('as');
  if (kind === undefined) return codec.onlyMetadata === true ? undefined : { as: undefined, pretty };
  if (kind === 'Table' && !codec.tables) return undefined;
  const as = transforms.find(
    (t) => t.kind === kind && t.group === (parameters.get('g') ?? '') && t.version === (parameters.get('v') ?? ''),
  );
  return as === undefined ? undefined : { as, pretty };
}

/** Whether a response is pretty-printed: by the `pretty` query parameter, otherwise by the user agent. */
export function wantsPretty(pretty: string | undefined, userAgent: string | undefined): boolean {
  if (pretty !== undefined && pretty !== '') return /^(?:1|t|T|true|True|TRUE)$/.test(pretty);
  return userAgent !== undefined && /^(?:curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}

const essence = (contentType: string | undefined): string =>
  (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

/**
 * The codec of a request body, by its Content-Type; without one the body is JSON.
 * @throws StatusError 415 that lists `listed`
 */
export function bodyCodec<T extends WireFormat>(
  contentType: string | undefined,
  { codecs, listed }: Pick<Offer<T>, 'codecs' | 'listed'>,
): T {
  const name = essence(contentType) || JSON_TYPE;
  const found = codecs.find(({ mediaTypes }) => mediaTypes.includes(name));
  if (found !== undefined) return found;
  throw statusError.unsupportedMediaType(listed.map(({ mediaTypes: [first] }) => first));
}

/**
 * The type of a patch, one of `types`, by its Content-Type. Custom resources have no `strategic` one.
 * @throws StatusError 415
 */
export function patchType<T extends Pick<PatchType, 'mediaType' | 'format'>>(
  contentType: string | undefined,
  types: readonly T[],
  { strategic }: { strategic: boolean },
): T {
  const name = essence(contentType);
  const allowed = types.filter(({ format }) => strategic || format !== 'strategic');
  const found = allowed.find(({ mediaType }) => mediaType === name);
  if (found !== undefined) return found;
  if (!strategic) throw statusError.unsupportedMediaType(allowed.map(({ mediaType }) => mediaType));
  throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

// Responses

/** How a response is encoded. */
export interface Form<T extends WireCodec = WireCodec> {
  readonly codec: T;
  readonly headers: ApiResponse['headers'];
}

/** How a response is encoded, and the kind that replaces that of the objects; undefined: none does. */
export interface Negotiated<T extends WireCodec = WireCodec> extends Form<T> {
  readonly as: Transform | undefined;
  /** Undefined: a Table, of which the request decides more. */
  readonly view: Representation | undefined;
}

function viewOf(as: Transform | undefined): Representation | undefined {
  if (as === undefined) return { as: 'object' };
  return as.kind === 'Table' ? undefined : { as: 'metadata', version: as.version };
}

/** Negotiates the response to a request. @throws StatusError 406 */
export type Negotiate<T extends WireCodec = WireCodec> = (request: ApiRequest, info: RequestInfo) => Negotiated<T>;

/** The codecs of an endpoint, and the media types that its 406 responses list. */
export type Offered<T extends WireCodec = WireCodec> = Pick<Offer<T>, 'codecs' | 'listed'>;

const headersOf = (contentType: string): ApiResponse['headers'] => ({
  'cache-control': 'no-cache, private',
  'content-type': contentType,
});

/** The two ways to encode a response in one media type. */
interface Forms {
  readonly plain: Negotiated;
  readonly indented: Negotiated;
  /** The media type has the parameter `pretty=1`. */
  readonly pretty: boolean;
}

function formsOf({ codec, mediaType, as, pretty }: Accepted<WireCodec>): Forms {
  const plain = { codec, headers: headersOf(mediaType), as, view: viewOf(as) };
  return { plain, indented: { ...plain, codec: codec.pretty ?? codec }, pretty };
}

/** For responses with one object or list. A list has the route of its watch, `streams`. */
function negotiateObjects(
  offered: Offered,
  route: Offer<WireCodec>['route'],
  transforms: readonly Transform[],
): Negotiate {
  const accept = negotiator({ ...offered, route, transforms }, formsOf);
  return ({ headers }, { query }) => {
    const { plain, indented, pretty } = accept(headers['accept']);
    const parameter = query.size === 0 ? undefined : (query.get('pretty') ?? undefined);
    return pretty || wantsPretty(parameter, headers['user-agent']) ? indented : plain;
  };
}

/** For watches, which are never pretty. The Content-Type has the parameters of the stream. */
function negotiateWatches(
  { codecs, listed }: Offered,
  route: Offer<WireCodec>['route'],
  transforms: readonly Transform[],
): Negotiate<StreamingCodec> {
  const offer = { codecs, listed, route, transforms, streaming: true };
  const accept = negotiator<WireCodec, Negotiated<StreamingCodec>>(offer, ({ codec, mediaType, as }) => {
    const streaming = codec as StreamingCodec;
    return { codec: streaming, headers: headersOf(streaming.watch.contentType(mediaType)), as, view: viewOf(as) };
  });
  return ({ headers }) => accept(headers['accept']);
}

/** How requests for a resource and the responses to them are encoded. */
export interface Negotiation {
  readonly bodies: Offered;
  readonly objects: Negotiate;
  /** For objects that are created but never read, such as reviews: they have no Table. */
  readonly unread: Negotiate;
  readonly lists: Negotiate;
  readonly watches: Negotiate<StreamingCodec>;
}

/** `codecs` encode the resource, `listed` are all codecs. Custom resources are not `routed`: see {@link Offer.route}. */
export function createNegotiation(
  codecs: readonly WireCodec[],
  listed: readonly WireCodec[],
  names: Names,
  { routed }: { readonly routed: boolean },
): Negotiation {
  const offered: Offered = { codecs, listed };
  const bodies: Offered = { codecs: codecs.filter(({ onlyMetadata }) => onlyMetadata !== true), listed };
  const plain = routed ? 'plain' : 'none';
  const streams = routed ? 'streams' : 'none';
  const transforms = metaTransforms(names);
  const metadata = transforms.filter(({ kind }) => kind !== 'Table');
  return {
    bodies,
    objects: negotiateObjects(offered, plain, transforms),
    unread: negotiateObjects(offered, plain, metadata),
    lists: negotiateObjects(offered, streams, transforms),
    watches: negotiateWatches(offered, streams, transforms),
  };
}

/** A response with a small object that is not stored. */
export function valueAnswer(status: number, value: JsonObject, form: Form): ApiResponse {
  return { status, headers: form.headers, body: form.codec.encodeValue(value) };
}

/** The response to a request that failed. */
export type AnswerFailure = (error: StatusError, headers: RequestHeaders) => ApiResponse;

/** Responds with the Status of an error; in the first codec if the client accepts none. */
export function failureAnswers(codecs: readonly WireCodec[]): AnswerFailure {
  const offer = { codecs, listed: codecs, route: 'none', transforms: [] } as const;
  const accept = negotiator<WireCodec, Forms>(offer, formsOf);
  const fallback = accept(undefined);
  const formOf = (headers: RequestHeaders): Form => {
    let forms = fallback;
    try {
      forms = accept(headers['accept']);
    } catch {
      // The Status of the request's own error is more useful than a 406.
    }
    return wantsPretty(undefined, headers['user-agent']) ? forms.indented : forms.plain;
  };
  return (error, headers) => {
    const answer = valueAnswer(error.code, error.toStatus() as unknown as JsonObject, formOf(headers));
    const seconds = error.details?.retryAfterSeconds;
    if (seconds === undefined) return answer;
    return { ...answer, headers: { ...answer.headers, 'retry-after': String(seconds) } };
  };
}
