import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  bodyType,
  type MediaType,
  type ParsedBody,
  parseJson,
  parseYamlInSteps,
  patchFormat,
  type TypeMeta,
  unrecognizedBody,
} from '../codec/index.ts';
import { isJsonObject, type JsonObject, type Names, StatusError, statusError } from '../meta/index.ts';
import type { Body, PatchFormat } from '../registry/index.ts';
import type { Protobuf } from './protobuf.ts';
import type { ApiRequest } from './types.ts';

/** The largest body that is read (bytes). */
const maxBody = 3 * 1024 * 1024;

const listed = ['json', 'yaml', 'protobuf'] as const;
const textTypes = ['json', 'yaml'] as const;

/** The body as an object of a type; `protobuf` where the type has such a form. Throws 400, 408, 413 or 415. */
export async function readObjectBody(
  request: ApiRequest,
  expected: TypeMeta,
  protobuf: Protobuf | undefined,
  names: Names,
): Promise<Body> {
  const type = typeOf(request, protobuf, names);
  const bytes = await request.body(maxBody);
  if (type === 'protobuf' && protobuf !== undefined) return protobuf.read(bytes, expected);
  try {
    return await parse(type, bytes);
  } catch (error) {
    if (error instanceof StatusError && error.code === 400) throw unrecognizedBody(expected.kind, bytes, error);
    throw error;
  }
}

/** The kind of a patch; `strategic` where there is such a one. Throws 415. */
export function readPatchFormat({ headers }: ApiRequest, strategic: boolean): PatchFormat {
  return patchFormat(headers['content-type'], { strategic });
}

/** A patch of that kind. Throws 400, 408 or 413. */
export async function readPatchBody(request: ApiRequest, format: PatchFormat): Promise<Body> {
  const bytes = await request.body(maxBody);
  try {
    return format === 'apply' ? await parseYaml(bytes) : parseJson(bytes);
  } catch (error) {
    const what = format === 'apply' ? 'YAML' : format === 'merge' ? 'patch' : undefined;
    if (what === undefined || !(error instanceof StatusError) || error.code !== 400) throw error;
    throw statusError.badRequest(`error decoding ${what}: ${error.message}`, error);
  }
}

/** The options in the body of a delete request; undefined when it has none. */
export async function readOptionsBody(
  request: ApiRequest,
  protobuf: Protobuf,
  names: Names,
): Promise<JsonObject | undefined> {
  const bytes = await request.body(maxBody);
  if (bytes.length === 0) return undefined;
  const type = typeOf(request, protobuf, names);
  const { value } = type === 'protobuf' ? protobuf.read(bytes, deleteOptions) : await parse(type, bytes);
  if (isJsonObject(value)) return value;
  throw statusError.badRequest('the options of a delete request must be an object');
}

const deleteOptions: TypeMeta = { apiVersion: 'v1', kind: 'DeleteOptions' };

function typeOf({ headers }: ApiRequest, protobuf: Protobuf | undefined, names: Names): MediaType {
  const types = protobuf === undefined ? textTypes : listed;
  return bodyType(headers['content-type'], { types, listed }, names);
}

const parse = (type: MediaType, bytes: Uint8Array): ParsedBody | Promise<ParsedBody> =>
  type === 'yaml' ? parseYaml(bytes) : parseJson(bytes);

/** Takes its time over a large document: others have a turn between two steps. */
async function parseYaml(bytes: Uint8Array): Promise<ParsedBody> {
  const steps = parseYamlInSteps(bytes);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}
