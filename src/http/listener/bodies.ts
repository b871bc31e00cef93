import { type ParsedBody, type TypeMeta, unrecognizedBody } from '../../codec/index.ts';
import {
  getKey,
  inTurns,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonType,
  maxShown,
  parseGroupVersion,
  StatusError,
  shorten,
  statusError,
} from '../../meta/index.ts';
import { type Change, largeBytes, type ObjectBody } from '../../registry/index.ts';
import type { CompiledType } from '../../schema/index.ts';
import type { Call } from '../call.ts';
import { bodyCodec, type Offered, type PatchType } from '../codecs/negotiation.ts';
import type { BodyReader, WireCodec } from '../codecs/wire-codec.ts';

/** The largest body that is read (bytes). */
const maxBody = 3 * 1024 * 1024;

type Sent = Pick<Call, 'request' | 'info' | 'resource' | 'series' | 'reservation' | 'stages' | 'turns' | 'user'>;

/** The whole body, in a turn to read it: many small bodies may arrive at the same time. Throws 408, 413 or 429. */
async function receive(sent: Sent): Promise<Uint8Array> {
  const { info, series, reservation, turns } = sent;
  const bytes = await reservation.receive(sent, maxBody);
  series.countBody(info.verb, bytes.length);
  if (turns.over) await turns.next();
  return bytes;
}

interface Expected extends TypeMeta {
  /** The body must name its kind: nothing else tells how a custom object is decoded. */
  readonly namesKind: boolean;
}

/** Reads the body as an object of a type. Throws 400, 408, 413, 415 or 429. */
export async function readObjectBody(sent: Sent, expected: Expected, offered: Offered): Promise<ObjectBody> {
  const codec = bodyCodec(sent.request.headers['content-type'], offered);
  const bytes = await receive(sent);
  const unrecognized = (fault: StatusError) =>
    unrecognizedBody(expected.kind, bytes, `couldn't get version/kind; json parse error: ${fault.message}`, fault);
  const decoded = decodeObject(sent, codec, bytes, expected, unrecognized);
  const body = decoded instanceof Promise ? await decoded : decoded;
  const fault = expected.namesKind ? kindFault(body.value, bytes) : undefined;
  if (fault !== undefined) throw unrecognizedBody(expected.kind, bytes, fault);
  return body;
}

/** Why the kind of an object is not known; undefined where it is. */
function kindFault(value: JsonObject, bytes: Uint8Array): string | undefined {
  const [apiVersion, kind] = [getKey(value, 'apiVersion'), getKey(value, 'kind')];
  if (typeof apiVersion === 'string' && apiVersion !== '' && parseGroupVersion(apiVersion) === undefined) {
    return `unexpected GroupVersion string: ${shorten(apiVersion)}`;
  }
  if (kind !== undefined && kind !== null && kind !== '') return undefined;
  return `Object 'Kind' is missing in '${shorten(Buffer.from(bytes).toString(), maxShown)}'`;
}

/** The type that a text codec expects. */
const anyType: TypeMeta = { apiVersion: '', kind: '' };

/** The value of a body: of a small one at once, that of a large one is read in the turns of the request. */
function parsed(
  sent: Sent,
  reader: BodyReader,
  bytes: Uint8Array,
  expected: TypeMeta,
): ParsedBody | Promise<ParsedBody> {
  const { turns, user } = sent;
  const steps = bytes.length < largeBytes ? undefined : reader.decodeInSteps?.(bytes, expected);
  const whole = () => reader.decode(bytes, user.name, expected, turns);
  return steps === undefined ? whole() : inTurns(steps, turns).then((body) => body ?? whole());
}

/** The object in a body, likewise. An error is completed by `unrecognized`, unless the codec does that itself. */
function decodeObject(
  sent: Sent,
  codec: WireCodec,
  bytes: Uint8Array,
  expected: TypeMeta,
  unrecognized: (fault: StatusError) => StatusError,
): ObjectBody | Promise<ObjectBody> {
  const object = ({ value, findings, json }: ParsedBody) => ({
    value: objectIn(value),
    findings,
    json,
    size: bytes.length,
  });
  const fail = (error: unknown): never => {
    if (codec.completeErrors || !(error instanceof StatusError) || error.code !== 400) throw error;
    throw unrecognized(error);
  };
  try {
    const body = parsed(sent, codec, bytes, expected);
    return body instanceof Promise ? body.then(object).catch(fail) : object(body);
  } catch (error) {
    return fail(error);
  }
}

/** The Go type that the reference server first decodes a body into, as it stands in messages. */
const typeFields =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** The object that a body decodes to; null is an empty one. @throws StatusError 400 */
function objectIn(value: Json): JsonObject {
  if (value === null) return {};
  if (!isJsonObject(value)) {
    throw statusError.badRequest(`json: cannot unmarshal ${jsonType(value)} into Go value of type ${typeFields}`);
  }
  for (const field of ['apiVersion', 'kind']) {
    const given = value[field] ?? null;
    if (given === null || typeof given === 'string') continue;
    throw statusError.badRequest(
      `json: cannot unmarshal ${jsonType(given)} into Go struct field .${field} of type string`,
    );
  }
  return value;
}

/** A patch of that type. A malformed one is reported later, when its object is known. Throws 408, 413 or 429. */
export async function readPatch(
  sent: Sent,
  { format, reader }: PatchType,
): Promise<Change & { readonly verb: 'patch' }> {
  const bytes = await receive(sent);
  try {
    const found = parsed(sent, reader, bytes, anyType);
    const body = found instanceof Promise ? await found : found;
    const { value, findings, json } = body;
    return { verb: 'patch', format, patch: value, findings, json, size: bytes.length };
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 400) throw error;
    return { verb: 'patch', format, patch: null, malformed: error.message };
  }
}

/** The options in the body of a delete request; undefined when it has none. Throws 400, 408, 413, 415 or 429. */
export async function readOptionsBody(
  sent: Sent,
  type: CompiledType,
  offered: Offered,
): Promise<JsonObject | undefined> {
  const bytes = await receive(sent);
  if (bytes.length === 0) return undefined;
  const codec = bodyCodec(sent.request.headers['content-type'], offered);
  const { value } = await decodeObject(sent, codec, bytes, deleteOptionsKind, unrecognizedOptions);
  return type.decode(value).value;
}

const unrecognizedOptions = (fault: StatusError): StatusError =>
  statusError.badRequest(`couldn't get version/kind; json parse error: ${fault.message}`, fault);

export const deleteOptionsKind: TypeMeta = { apiVersion: 'v1', kind: 'DeleteOptions' };
