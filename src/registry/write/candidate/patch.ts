import {
  applyJsonPatchInSteps,
  applyMergePatchInSteps,
  checkMembers,
  checkPatched,
  readOperations,
  strategicMergePatch,
  unknownMembers,
} from '../../../merge/index.ts';
import {
  type ApiObject,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonType,
  type Steps,
  statusError,
} from '../../../meta/index.ts';
import { requestKind } from '../../resource/target.ts';
import type { Change, Target, WriteOptions } from '../../types.ts';
import { decodePatched, type Patched, strictErrorsOf } from '../body.ts';
import { managedProjection } from '../managed-fields.ts';
import type { Candidate, WriteRequest } from '../write-request.ts';
import { replacedCandidate } from './content.ts';
import { checkNamespaceAndName, notFound } from './metadata.ts';

type Patch = Change & { readonly verb: 'patch' };

/** The candidate of a JSON, merge or strategic merge patch. @throws StatusError */
export function* patchCandidate(request: WriteRequest, change: Patch, old: ApiObject | undefined): Steps<Candidate> {
  const { registry, target, options } = request;
  if (old === undefined) throw notFound(target);
  const patched = yield* applyPatch(target, change, yield* managedProjection(target, old), options);
  yield;
  const body = yield* decodePatched(registry, target, patched, change, options);
  checkNamespaceAndName(target, body.metadata);
  return yield* replacedCandidate(request, body, old);
}

/** Applies the patch to an object in the version of the request. @throws StatusError */
function* applyPatch(target: Target, change: Patch, before: JsonObject, options: WriteOptions): Steps<Patched> {
  yield* checkMembers(change.patch);
  const patched = yield* patchDocument(target, change, before, options);
  yield* checkPatched(patched.document);
  return patched;
}

function* patchDocument(
  target: Target,
  { format, patch, findings = [], json, malformed }: Patch,
  before: JsonObject,
  { fieldValidation }: WriteOptions,
): Steps<Patched> {
  // With fieldValidation=Ignore the reference server parses patches by another parser, with shorter messages.
  const lenient = fieldValidation === 'Ignore';
  if (malformed !== undefined) {
    const why = format === 'merge' && lenient ? badMergePatch : malformed;
    throw statusError.badRequest(format === 'strategic' || lenient ? why : `error decoding patch: ${why}`);
  }
  switch (format) {
    case 'json': {
      const operations = readOperations(patch);
      const errors = lenient ? [] : yield* strictErrorsOf({ findings, json }, unknownMembers(operations));
      const document = yield* applyJsonPatchInSteps(before, operations);
      return { document, findings: errors.map((error) => `json patch ${error}`) };
    }
    case 'strategic': {
      const { schema, names } = requestKind(target).type;
      return { document: yield* strategicMergePatch(before, patch, schema, names), findings };
    }
    default:
      if (isJsonObject(patch)) return { document: yield* applyMergePatchInSteps(before, patch), findings };
      if (patch === null || lenient) throw statusError.badRequest(badMergePatch);
      throw statusError.badRequest(`error decoding patch: ${notAnObject(patch)}`);
  }
}

const badMergePatch = 'Invalid JSON Patch';

export const notAnObject = (value: Json): string =>
  `json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`;
