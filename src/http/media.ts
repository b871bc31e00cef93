import {
  metaTransforms,
  negotiator,
  parseJson,
  prettyJson,
  type Representation,
  stringifyJson,
  stringifyYaml,
  wantsPretty,
} from '../codec/index.ts';
import { type ByteString, bufferOf, encodeText, type Json, type Names, type StatusError } from '../meta/index.ts';
import { jsonHeaders, yamlHeaders } from './answers.ts';
import type { RequestInfo } from './request-info.ts';
import type { ApiRequest, ApiResponse, RequestHeaders } from './types.ts';

/** How an answer is written. */
export interface Form {
  readonly yaml: boolean;
  /** JSON over several lines. */
  readonly pretty: boolean;
}

/** How an answer is written, and the kind in which objects are shown; undefined: their own. */
export interface Chosen extends Form {
  readonly as: Representation['as'];
}

/** Chooses how to answer a request. Throws 406 when nothing that the client takes can be had. */
export type ChooseForm = (request: ApiRequest, info: RequestInfo) => Chosen;

const listed = ['json', 'yaml', 'protobuf'] as const;

/** For what answers at once: JSON or YAML, as objects, tables or metadata. */
export function objectForms(names: Names): ChooseForm {
  return withLines(
    negotiator({ types: ['json', 'yaml'], listed, watchable: true, transforms: metaTransforms(names) }, names),
  );
}

/** For watches: the pieces of YAML could not be told apart. */
export function watchForms(names: Names): ChooseForm {
  const choose = negotiator({ types: ['json'], listed, watchable: true, transforms: metaTransforms(names) }, names);
  return ({ headers }) => ({ yaml: false, pretty: false, as: choose(headers['accept']).as });
}

function withLines(choose: (accept: string | undefined) => Representation): ChooseForm {
  return ({ headers }, { query }) => {
    const { mediaType, as, pretty } = choose(headers['accept']);
    const asked = query.size === 0 ? undefined : (query.get('pretty') ?? undefined);
    return { yaml: mediaType === 'yaml', as, pretty: pretty || wantsPretty(asked, headers['user-agent']) };
  };
}

/** The text of a value, as it goes over the wire. */
function formatValue(value: Json, { yaml, pretty }: Form): ByteString {
  if (yaml) return encodeText(stringifyYaml(value));
  return encodeText(pretty ? prettyJson(value) : `${stringifyJson(value)}\n`);
}

/** JSON that this server wrote, in the wanted form. */
export function formatJson(json: ByteString, form: Form): ByteString {
  return form.yaml || form.pretty ? formatValue(readOwnJson(json), form) : (`${json}\n` as ByteString);
}

/** The value of JSON that this server wrote. */
export function readOwnJson(json: string): Json {
  return parseJson(bufferOf(json as ByteString)).value;
}

export const headersOf = ({ yaml }: Form) => (yaml ? yamlHeaders : jsonHeaders);

/** Answers with a value. */
export function valueAnswer(status: number, value: Json, form: Form): ApiResponse {
  return { status, headers: headersOf(form), body: formatValue(value, form) };
}

/** Answers with the Status of a failure: as YAML when that is what the client wants, else as JSON. */
export function failureAnswer(error: StatusError, headers: RequestHeaders): ApiResponse {
  const yaml = /^\s*application\/yaml\b/i.test(headers['accept'] ?? '');
  const pretty = !yaml && wantsPretty(undefined, headers['user-agent']);
  const answer = valueAnswer(error.code, error.toStatus() as unknown as Json, { yaml, pretty });
  const seconds = error.details?.retryAfterSeconds;
  return seconds === undefined ? answer : { ...answer, headers: { ...answer.headers, 'retry-after': String(seconds) } };
}
