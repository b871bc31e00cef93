import { bodyType, type ParsedBody, parseJson, parseYaml, patchFormat, unrecognizedBody } from '../codec/index.ts';
import { isJsonObject, type JsonObject, type Names, StatusError, statusError } from '../meta/index.ts';
import type { Body, PatchFormat } from '../registry/index.ts';
import type { ApiRequest } from './types.ts';

/** The largest body that is read (bytes). */
const maxBody = 3 * 1024 * 1024;

const objectTypes = { types: ['json', 'yaml'], listed: ['json', 'yaml', 'protobuf'] } as const;

/** The body as an object of `kind`. Throws 400, 408, 413 or 415. */
export async function readObjectBody(request: ApiRequest, kind: string, names: Names): Promise<Body> {
  const parse = parserOf(request, names);
  const bytes = await request.body(maxBody);
  try {
    return parse(bytes);
  } catch (error) {
    if (error instanceof StatusError && error.code === 400) throw unrecognizedBody(kind, bytes, error);
    throw error;
  }
}

/** A patch, and of which kind it is. Throws 400, 408, 413 or 415. */
export async function readPatchBody(request: ApiRequest): Promise<{ format: PatchFormat; body: Body }> {
  const format = patchFormat(request.headers['content-type'], { strategic: true });
  const bytes = await request.body(maxBody);
  return { format, body: format === 'apply' ? parseYaml(bytes) : parseJson(bytes) };
}

/** The options in the body of a delete request; undefined when it has none. */
export async function readOptionsBody(request: ApiRequest, names: Names): Promise<JsonObject | undefined> {
  const bytes = await request.body(maxBody);
  if (bytes.length === 0) return undefined;
  const { value } = parserOf(request, names)(bytes);
  if (isJsonObject(value)) return value;
  throw statusError.badRequest('the options of a delete request must be an object');
}

function parserOf(request: ApiRequest, names: Names): (bytes: Uint8Array) => ParsedBody {
  return bodyType(request.headers['content-type'], objectTypes, names) === 'yaml' ? parseYaml : parseJson;
}
