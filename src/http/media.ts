import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  metaTransforms,
  negotiator,
  type Offer,
  prettyJson,
  type Representation,
  readOwnJson,
  stringifyJson,
  stringifyYaml,
  stringifyYamlInSteps,
  wantsPretty,
} from '../codec/index.ts';
import {
  type ByteString,
  decodeText,
  encodeText,
  type Json,
  type JsonObject,
  type Names,
  type StatusError,
} from '../meta/index.ts';
import { inTurns, largeBytes } from '../registry/index.ts';
import { jsonHeaders, yamlHeaders } from './answers.ts';
import type { Protobuf } from './protobuf.ts';
import type { RequestInfo } from './request-info.ts';
import type { ApiRequest, ApiResponse, Chunk, RequestHeaders } from './types.ts';

/** How an answer is written: as JSON unless it says otherwise. */
export interface Form {
  readonly yaml: boolean;
  readonly protobuf: Protobuf | undefined;
  /** The media type, where it is protobuf, as the client spells it. */
  readonly protobufType?: string;
  /** JSON over several lines. */
  readonly pretty: boolean;
}

/** How an answer is written, and the kind in which objects are shown; undefined: their own. */
export interface Chosen extends Form {
  readonly as: Representation['as'];
}

/** Chooses how to answer a request. Throws 406 when nothing that the client takes can be had. */
export type ChooseForm = (request: ApiRequest, info: RequestInfo) => Chosen;

const textTypes = ['json', 'yaml'] as const;
const listed = ['json', 'yaml', 'protobuf'] as const;

/**
 * For what answers at once: JSON, YAML or, where there is such a form, protobuf; as objects, tables or metadata. The way
 * to a list is that to its watch.
 */
export function objectForms(
  names: Names,
  protobuf: Protobuf | undefined,
  route: Offer['route'],
  transforms = metaTransforms(names),
): ChooseForm {
  const types = protobuf === undefined ? textTypes : listed;
  const choose = negotiator({ types, listed, watchable: true, route, transforms }, names);
  return ({ headers }, { query }) => {
    const { mediaType, name, as, pretty } = choose(headers['accept']);
    if (mediaType === 'protobuf') return { yaml: false, protobuf, protobufType: name, pretty: false, as };
    const asked = query.size === 0 ? undefined : (query.get('pretty') ?? undefined);
    const lines = pretty || wantsPretty(asked, headers['user-agent']);
    return { yaml: mediaType === 'yaml', protobuf: undefined, pretty: lines, as };
  };
}

/** The other kinds of objects that have no table. */
export const metadataTransforms = (names: Names) => metaTransforms(names).filter(({ kind }) => kind !== 'Table');

/** For watches: the pieces of YAML could not be told apart. */
export function watchForms(names: Names, protobuf: Protobuf | undefined): ChooseForm {
  const types = protobuf === undefined ? (['json'] as const) : (['json', 'protobuf'] as const);
  const choose = negotiator(
    { types, listed, watchable: true, route: 'streams', transforms: metaTransforms(names) },
    names,
  );
  return ({ headers }) => {
    const { mediaType, name, as } = choose(headers['accept']);
    if (mediaType === 'protobuf') return { yaml: false, protobuf, protobufType: name, pretty: false, as };
    return { yaml: false, protobuf: undefined, pretty: false, as };
  };
}

/** A value as it goes over the wire. */
function formatValue(value: Json, { yaml, protobuf, pretty }: Form): Chunk {
  if (protobuf !== undefined) return protobuf.write(value as JsonObject);
  if (yaml) return encodeText(stringifyYaml(value));
  return encodeText(pretty ? prettyJson(value) : `${stringifyJson(value)}\n`);
}

/** JSON that this server wrote, in the wanted form; over a large text others have turns. */
export function formatJson(json: ByteString, form: Form): Chunk | Promise<Chunk> {
  const plain = !form.yaml && !form.pretty && form.protobuf === undefined;
  if (plain) return `${json}\n` as ByteString;
  return json.length < largeBytes ? formatValue(readOwnBytes(json), form) : formatLarge(json, form);
}

async function formatLarge(json: ByteString, form: Form): Promise<Chunk> {
  const value = readOwnBytes(json);
  await nextTurn();
  return form.yaml ? encodeText(await inTurns(stringifyYamlInSteps(value), nextTurn)) : formatValue(value, form);
}

/** The value of JSON that this server wrote. */
export function readOwnBytes(json: string): Json {
  return readOwnJson(decodeText(json as ByteString));
}

export function headersOf({ yaml, protobufType }: Form): ApiResponse['headers'] {
  if (protobufType !== undefined) return { 'cache-control': 'no-cache, private', 'content-type': protobufType };
  return yaml ? yamlHeaders : jsonHeaders;
}

/** Answers with a value. */
export function valueAnswer(status: number, value: Json, form: Form): ApiResponse {
  return { status, headers: headersOf(form), body: formatValue(value, form) };
}

/** Answers with the Status of a failure, in the form that the client wants or else as JSON. */
export function failureForms(names: Names, protobuf: Protobuf): AnswerFailure {
  const choose = negotiator({ types: listed, listed, watchable: false, route: 'none', transforms: [] }, names);
  const formOf = (headers: RequestHeaders): Form => {
    const pretty = wantsPretty(undefined, headers['user-agent']);
    try {
      const { mediaType, name } = choose(headers['accept']);
      if (mediaType === 'protobuf') return { yaml: false, protobuf, protobufType: name, pretty };
      return { yaml: mediaType === 'yaml', protobuf: undefined, pretty };
    } catch {
      return { yaml: false, protobuf: undefined, pretty };
    }
  };
  return (error, headers) => {
    const answer = valueAnswer(error.code, error.toStatus() as unknown as Json, formOf(headers));
    const seconds = error.details?.retryAfterSeconds;
    if (seconds === undefined) return answer;
    return { ...answer, headers: { ...answer.headers, 'retry-after': String(seconds) } };
  };
}

export type AnswerFailure = (error: StatusError, headers: RequestHeaders) => ApiResponse;
