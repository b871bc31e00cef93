import {
  type Accepted,
  metaTransforms,
  negotiator,
  type Offer,
  type Transform,
  wantsPretty,
} from '../../codec/index.ts';
import type { JsonObject, Names, StatusError } from '../../meta/index.ts';
import type { RequestInfo } from '../request-info.ts';
import type { ApiRequest, ApiResponse, RequestHeaders } from '../types.ts';
import type { StreamingCodec, WireCodec } from './wire-codec.ts';

/** How a response is encoded. */
export interface Form<T extends WireCodec = WireCodec> {
  readonly codec: T;
  readonly headers: ApiResponse['headers'];
}

/** How a response is encoded, and the kind that replaces that of the objects; undefined: none does. */
export interface Negotiated<T extends WireCodec = WireCodec> extends Form<T> {
  readonly as: Transform | undefined;
}

/** Negotiates the response to a request. @throws StatusError 406 */
export type Negotiate<T extends WireCodec = WireCodec> = (request: ApiRequest, info: RequestInfo) => Negotiated<T>;

/** What an endpoint encodes with, and what its 406 responses list. */
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
  const headers = headersOf(mediaType);
  return { plain: { codec, headers, as }, indented: { codec: codec.pretty ?? codec, headers, as }, pretty };
}

/** For responses with one object or list. A list has the route of its watch, `streams`. */
function negotiateObjects(
  offered: Offered,
  route: Offer<WireCodec>['route'],
  transforms: readonly Transform[],
): Negotiate {
  const accept = negotiator({ ...offered, watchable: true, route, transforms }, formsOf);
  return ({ headers }, { query }) => {
    const { plain, indented, pretty } = accept(headers['accept']);
    const parameter = query.size === 0 ? undefined : (query.get('pretty') ?? undefined);
    return pretty || wantsPretty(parameter, headers['user-agent']) ? indented : plain;
  };
}

/** For watches, which are never pretty. The Content-Type has the parameters of the stream. */
function negotiateWatches({ codecs, listed }: Offered, transforms: readonly Transform[]): Negotiate<StreamingCodec> {
  const streamingCodecs = codecs.filter((codec): codec is StreamingCodec => codec.watch !== undefined);
  const offer = { codecs: streamingCodecs, listed, watchable: true, route: 'streams', transforms } as const;
  const accept = negotiator<WireCodec, Negotiated<StreamingCodec>>(offer, ({ codec, mediaType, as }) => {
    const streaming = codec as StreamingCodec;
    return { codec: streaming, headers: headersOf(mediaType + streaming.watch.parameters), as };
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

/** `codecs` encode the resource, `listed` are all codecs. */
export function createNegotiation(
  codecs: readonly WireCodec[],
  listed: readonly WireCodec[],
  names: Names,
): Negotiation {
  const bodies: Offered = { codecs, listed };
  const transforms = metaTransforms(names);
  const metadata = transforms.filter(({ kind }) => kind !== 'Table');
  return {
    bodies,
    objects: negotiateObjects(bodies, 'plain', transforms),
    unread: negotiateObjects(bodies, 'plain', metadata),
    lists: negotiateObjects(bodies, 'streams', transforms),
    watches: negotiateWatches(bodies, transforms),
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
  const offer = { codecs, listed: codecs, watchable: false, route: 'none', transforms: [] } as const;
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
