import {
  type ByteString,
  bytesOf,
  type Names,
  parseGroupVersion,
  quote,
  StatusError,
  type Steps,
  statusError,
} from '../meta/index.ts';
import { field, type StructSchema, string, struct } from '../schema/index.ts';
import { readCborInSteps, UnsuitableItem } from './cbor-read.ts';
import { type ParsedBody, unrecognizedBody } from './json.ts';
import type { TypeMeta } from './protobuf.ts';

/** The tag before every item that the server writes. It marks the item as CBOR. */
export const selfDescribed: ByteString = bytesOf(Uint8Array.of(0xd9, 0xd9, 0xf7));

const NO_FINDINGS: readonly string[] = Object.freeze([]);

/** The fields that every object has. The others of a custom object may have any value. */
const anyObject = struct('meta/v1.TypeMeta', { kind: field(1, string), apiVersion: field(2, string) });

/**
 * Reads the object in a body in steps. `schema` is that of its type; undefined for a custom object. There are no
 * findings: a duplicate key is an error.
 * @throws StatusError 400 that names the expected kind, 413
 */
export function* readCborObjectInSteps(
  bytes: Uint8Array,
  expected: TypeMeta,
  schema: StructSchema = anyObject,
  names: Names,
): Steps<ParsedBody> {
  try {
    return { value: yield* readCborInSteps(bytes, schema, names), findings: NO_FINDINGS };
  } catch (error) {
    throw error instanceof StatusError && error.code === 400 ? unreadable(error, bytes, expected) : error;
  }
}

/** Reads an apply configuration in steps, without regard to its type. @throws StatusError 400, 413 */
export function* readCborPatchInSteps(bytes: Uint8Array, names: Names): Steps<ParsedBody> {
  return { value: yield* readCborInSteps(bytes, undefined, names), findings: NO_FINDINGS };
}

/** The error of a body, whose kind is known if the object itself is well-formed. */
function unreadable(error: StatusError, bytes: Uint8Array, { apiVersion, kind }: TypeMeta): StatusError {
  const path = error instanceof UnsuitableItem ? error.path : [];
  if (path.length > 1 || (path.length === 1 && !Object.hasOwn(anyObject.fields, path[0] as string))) {
    const version = quote(parseGroupVersion(apiVersion)?.version ?? '');
    return statusError.badRequest(
      `${kind} in version ${version} cannot be handled as a ${kind}: ${error.message}`,
      error,
    );
  }
  return unrecognizedBody(kind, bytes, `unable to determine group/version/kind: ${error.message}`, error);
}
