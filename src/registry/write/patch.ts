import {
  applyJsonPatchInSteps,
  applyMergePatchInSteps,
  checkMembers,
  checkPatched,
  mergeApply,
  readOperations,
  settleApply,
  strategicMergePatch,
  unknownMembers,
} from '../../merge/index.ts';
import {
  type ApiObject,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonType,
  parseGroupVersion,
  type Steps,
  shorten,
  statusError,
} from '../../meta/index.ts';
import { requestKind, toStorageInSteps } from '../resource/convert.ts';
import type { Change, PatchFormat, Target, WriteOptions } from '../types.ts';
import { type Patched, reportStrictErrors, strictErrorsOf } from './body.ts';
import { copyOf, managedProjection, managedTypeOf, normalize, writerOf } from './field-management.ts';
import type { WriteRequest } from './write-request.ts';

const patchTypes: { readonly [format in PatchFormat]: string } = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** @throws StatusError 415 for a patch format that the target does not support */
export function checkPatchFormat({ resource }: Target, format: PatchFormat): void {
  if (format !== 'strategic' || resource.definition.custom === undefined) return;
  const { strategic: _, ...known } = patchTypes;
  throw statusError.unsupportedMediaType(Object.values(known));
}

type Patch = Change & { readonly verb: 'patch' };

/** Applies a JSON, merge or strategic merge patch to an object in the version of the request. @throws StatusError */
export function* applyPatch(target: Target, change: Patch, before: JsonObject, options: WriteOptions): Steps<Patched> {
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

const notAnObject = (value: Json): string =>
  `json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`;

/** Applies an apply configuration to the object, with its managed fields. @throws StatusError 400, 409, 500 */
export function* applied(request: WriteRequest, old: ApiObject | undefined): Steps<ApiObject> {
  const { registry, target, change, options } = request;
  if (change.verb !== 'patch') throw statusError.methodNotAllowed();
  const { malformed } = change;
  const findings = (change.findings ?? []).map((finding) => `error converting YAML to JSON: ${finding}`);
  const applyConfig = change.patch ?? {};
  if (malformed !== undefined || !isJsonObject(applyConfig)) {
    const why = malformed ?? `error unmarshaling JSON: while decoding JSON: ${notAnObject(applyConfig)}`;
    throw statusError.badRequest(`error decoding YAML: ${why}`);
  }
  yield* checkMembers(applyConfig);
  checkType(target, applyConfig);
  const live = old === undefined ? undefined : managedProjection(target, old);
  const type = managedTypeOf(registry, target, request.conversions);
  const apply = { type, writer: writerOf(request), live, applyConfig, force: options.force };
  const merged = yield* mergeApply(apply);
  yield;
  const normalized = merged.object === live ? live : yield* normalize(registry, target, merged.object);
  const object = yield* settleApply(apply, merged, normalized);
  reportStrictErrors(findings, options, 'error strict decoding YAML');
  yield;
  return yield* toStorageInSteps(target, object === live ? yield* copyOf(object) : object);
}

/** An apply configuration must name kind and apiVersion of the target. @throws StatusError 400 */
function checkType(target: Target, applyConfig: JsonObject): void {
  const expected = requestKind(target);
  const text = (name: string) => {
    const value = Object.hasOwn(applyConfig, name) ? applyConfig[name] : undefined;
    return typeof value === 'string' ? shorten(value) : '';
  };
  const [apiVersion, kind] = [text('apiVersion'), text('kind')];
  if (apiVersion === expected.apiVersion && kind === expected.kind) return;
  const { group = '', version = '' } = parseGroupVersion(apiVersion) ?? {};
  throw statusError.badRequest(`invalid object type: ${group}/${version}, Kind=${kind}`);
}
