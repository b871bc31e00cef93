import {
  bodyType,
  type MediaType,
  type ParsedBody,
  parseJson,
  parseYamlAsJson,
  patchFormat,
  type TypeMeta,
  unrecognizedBody,
} from '../codec/index.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  jsonType,
  type Names,
  StatusError,
  statusError,
} from '../meta/index.ts';
import type { Change, ObjectBody, PatchFormat } from '../registry/index.ts';
import type { CompiledType } from '../schema/index.ts';
import type { Protobuf } from './protobuf.ts';
import type { Seat } from './seat.ts';
import type { ApiRequest } from './types.ts';

/** The largest body that is read (bytes). */
const maxBody = 3 * 1024 * 1024;

interface Sent {
  readonly request: ApiRequest;
  readonly seat: Seat;
}

/** The whole body, with which the request enters its lane. Throws 400, 408, 413 or 429. */
const receive = ({ request, seat }: Sent): Promise<Uint8Array> => seat.receive(request, maxBody);

const listed = ['json', 'yaml', 'protobuf'] as const;
const textTypes = ['json', 'yaml'] as const;

/** Reads a YAML document off the event loop. Throws 400, 429 or 503. */
export type ReadYaml = (bytes: Uint8Array) => Promise<ParsedBody>;

/** What bodies are read with. */
export interface BodyReaders {
  readonly names: Names;
  readonly readYaml: ReadYaml;
  /** Undefined for types that have no such form. */
  readonly protobuf: Protobuf | undefined;
}

/** The body as an object of a type. Throws 400, 408, 413, 415 or 429. */
export async function readObjectBody(
  sent: Sent,
  expected: TypeMeta,
  { names, readYaml, protobuf }: BodyReaders,
): Promise<ObjectBody> {
  const type = typeOf(sent.request, protobuf, names);
  const bytes = await receive(sent);
  if (type === 'protobuf' && protobuf !== undefined) return { ...protobuf.read(bytes, expected), size: bytes.length };
  try {
    const body = await parse(type, bytes, readYaml);
    return { ...body, value: objectIn(body.value), size: bytes.length };
  } catch (error) {
    if (error instanceof StatusError && error.code === 400) throw unrecognizedBody(expected.kind, bytes, error);
    throw error;
  }
}

/** What a client looks for in a body, before it knows what else there is. */
const typeFields =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** The object in a body; nothing at all is one that says nothing. @throws StatusError 400 */
function objectIn(value: Json): JsonObject {
  if (value === null) return {};
  if (!isJsonObject(value)) {
    throw statusError.badRequest(`json: cannot unmarshal ${jsonType(value)} into Go value of type ${typeFields}`);
  }
  for (const field of ['apiVersion', 'kind']) {
    const said = value[field] ?? null;
    if (said === null || typeof said === 'string') continue;
    throw statusError.badRequest(
      `json: cannot unmarshal ${jsonType(said)} into Go struct field .${field} of type string`,
    );
  }
  return value;
}

/** The kind of a patch; `strategic` where there is such a one. Throws 415. */
export function readPatchFormat({ headers }: ApiRequest, strategic: boolean): PatchFormat {
  return patchFormat(headers['content-type'], { strategic });
}

/** A patch of that kind. Throws 408, 413 or 429. */
export async function readPatch(
  sent: Sent,
  format: PatchFormat,
  { readYaml }: BodyReaders,
): Promise<Change & { readonly verb: 'patch' }> {
  const bytes = await receive(sent);
  const change = { verb: 'patch', format } as const;
  try {
    const { value: patch, findings } = await parse(format === 'apply' ? 'yaml' : 'json', bytes, readYaml);
    return { ...change, patch, findings, size: bytes.length };
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 400) throw error;
    return { ...change, patch: null, malformed: error.message };
  }
}

/** The options in the body of a delete request, by their type; undefined when it has none. Throws 400, 408, 413, 415 or 429. */
export async function readOptionsBody(
  sent: Sent,
  type: CompiledType,
  { names, readYaml, protobuf }: BodyReaders & { readonly protobuf: Protobuf },
): Promise<JsonObject | undefined> {
  const bytes = await receive(sent);
  if (bytes.length === 0) return undefined;
  const form = typeOf(sent.request, protobuf, names);
  if (form === 'protobuf') return protobuf.read(bytes, deleteOptionsKind).value;
  return type.decode(await optionsIn(form, bytes, readYaml)).value;
}

async function optionsIn(form: MediaType, bytes: Uint8Array, readYaml: ReadYaml): Promise<JsonObject> {
  try {
    return objectIn((await parse(form, bytes, readYaml)).value);
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 400) throw error;
    throw statusError.badRequest(`couldn't get version/kind; json parse error: ${error.message}`, error);
  }
}

export const deleteOptionsKind: TypeMeta = { apiVersion: 'v1', kind: 'DeleteOptions' };

function typeOf({ headers }: ApiRequest, protobuf: Protobuf | undefined, names: Names): MediaType {
  const types = protobuf === undefined ? textTypes : listed;
  return bodyType(headers['content-type'], { types, listed }, names);
}

/** YAML that is JSON is read at once. */
const parse = (type: MediaType, bytes: Uint8Array, readYaml: ReadYaml): ParsedBody | Promise<ParsedBody> =>
  type === 'yaml' ? (parseYamlAsJson(bytes) ?? readYaml(bytes)) : parseJson(bytes);
