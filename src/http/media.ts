import { type Accepted, metaTransforms, negotiator, type Offer, type Transform, wantsPretty } from '../codec/index.ts';
import type { JsonObject, Names, StatusError } from '../meta/index.ts';
import { jsonHeaders } from './answers.ts';
import type { RequestInfo } from './request-info.ts';
import type { ApiRequest, ApiResponse, RequestHeaders } from './types.ts';
import type { StreamingCodec, WireCodec } from './wire-codec.ts';

/** How a response is encoded. */
export interface Form<T extends WireCodec = WireCodec> {
  readonly codec: T;
  readonly contentType: string;
}

/** How a response is encoded, and the kind that replaces that of the objects; undefined: none does. */
export interface Negotiated<T extends WireCodec = WireCodec> extends Form<T> {
  readonly as: Transform | undefined;
}

/** Negotiates the response to a request. @throws StatusError 406 */
export type Negotiate<T extends WireCodec = WireCodec> = (request: ApiRequest, info: RequestInfo) => Negotiated<T>;

/** What an endpoint encodes with, and what its 406 responses list. */
export type Offered<T extends WireCodec = WireCodec> = Pick<Offer<T>, 'codecs' | 'listed'>;

/** For responses with one object or list. A list has the route of its watch, `streams`. */
function negotiateObjects(
  offered: Offered,
  route: Offer<WireCodec>['route'],
  transforms: readonly Transform[],
): Negotiate {
  const accept = negotiator({ ...offered, watchable: true, route, transforms });
  return ({ headers }, { query }) => {
    const accepted = accept(headers['accept']);
    const parameter = query.size === 0 ? undefined : (query.get('pretty') ?? undefined);
    const codec = prettyCodec(accepted, parameter, headers['user-agent']);
    return { codec, contentType: accepted.mediaType, as: accepted.as };
  };
}

/** The codec, or its pretty form where the client asks for it. */
export function prettyCodec(
  { codec, pretty }: Pick<Accepted<WireCodec>, 'codec' | 'pretty'>,
  parameter: string | undefined,
  userAgent: string | undefined,
): WireCodec {
  return pretty || wantsPretty(parameter, userAgent) ? (codec.pretty ?? codec) : codec;
}

/** For watches, which are never pretty. The Content-Type has the parameters of the stream. */
function negotiateWatches({ codecs, listed }: Offered, transforms: readonly Transform[]): Negotiate<StreamingCodec> {
  const streaming = codecs.filter((codec): codec is StreamingCodec => codec.watch !== undefined);
  const accept = negotiator<WireCodec>({ codecs: streaming, listed, watchable: true, route: 'streams', transforms });
  return ({ headers }) => {
    const { codec, mediaType, as } = accept(headers['accept']) as Accepted<StreamingCodec>;
    return { codec, contentType: mediaType + codec.watch.parameters, as };
  };
}

/** One for resources with a built-in type, another for custom resources, which fewer codecs can encode. */
export interface ByType<T> {
  readonly builtIn: T;
  readonly custom: T;
}

/** How the requests for resources and the responses to them are encoded. */
export interface Negotiation {
  readonly bodies: ByType<Offered>;
  readonly objects: ByType<Negotiate>;
  /** For objects that are created but never read, such as reviews: they have no Table. */
  readonly unread: ByType<Negotiate>;
  readonly lists: ByType<Negotiate>;
  readonly watches: ByType<Negotiate<StreamingCodec>>;
}

export function createNegotiation(listed: readonly WireCodec[], names: Names): Negotiation {
  const bodies: ByType<Offered> = {
    builtIn: { codecs: listed, listed },
    custom: { codecs: listed.filter(({ customResources }) => customResources), listed },
  };
  const byType = <T>(make: (offered: Offered) => T): ByType<T> => ({
    builtIn: make(bodies.builtIn),
    custom: make(bodies.custom),
  });
  const transforms = metaTransforms(names);
  const metadata = transforms.filter(({ kind }) => kind !== 'Table');
  return {
    bodies,
    objects: byType((offered) => negotiateObjects(offered, 'plain', transforms)),
    unread: byType((offered) => negotiateObjects(offered, 'plain', metadata)),
    lists: byType((offered) => negotiateObjects(offered, 'streams', transforms)),
    watches: byType((offered) => negotiateWatches(offered, transforms)),
  };
}

export function headersOf({ contentType }: Form): ApiResponse['headers'] {
  if (contentType === jsonHeaders['content-type']) return jsonHeaders;
  return { 'cache-control': 'no-cache, private', 'content-type': contentType };
}

/** A response with a small object that is not stored. */
export function valueAnswer(status: number, value: JsonObject, form: Form): ApiResponse {
  return { status, headers: headersOf(form), body: form.codec.encodeValue(value) };
}

/** The response to a request that failed. */
export type AnswerFailure = (error: StatusError, headers: RequestHeaders) => ApiResponse;

/** Responds with the Status of an error; in the first codec if the client accepts none. */
export function failureAnswers(codecs: readonly WireCodec[]): AnswerFailure {
  const accept = negotiator({ codecs, listed: codecs, watchable: false, route: 'none', transforms: [] });
  const [fallback] = codecs as [WireCodec];
  const formOf = (headers: RequestHeaders): Form => {
    let accepted = { codec: fallback, mediaType: fallback.mediaTypes[0] };
    try {
      accepted = accept(headers['accept']);
    } catch {
      // The Status of the request's own error is more useful than a 406.
    }
    const codec = prettyCodec({ ...accepted, pretty: false }, undefined, headers['user-agent']);
    return { codec, contentType: accepted.mediaType };
  };
  return (error, headers) => {
    const answer = valueAnswer(error.code, error.toStatus() as unknown as JsonObject, formOf(headers));
    const seconds = error.details?.retryAfterSeconds;
    if (seconds === undefined) return answer;
    return { ...answer, headers: { ...answer.headers, 'retry-after': String(seconds) } };
  };
}
