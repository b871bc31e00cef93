import { checkMembers, mergeApply, settleApply } from '../../../merge/index.ts';
import {
  type ApiObject,
  getKey,
  isJsonObject,
  isLarge,
  type Json,
  type JsonObject,
  parseGroupVersion,
  type Steps,
  shorten,
  statusError,
  type WaitingSteps,
} from '../../../meta/index.ts';
import type { RegistryContext } from '../../context.ts';
import { fromStorageInSteps, projectionOf, requestKind, toStorageInSteps } from '../../resource/target.ts';
import type { Change, Target } from '../../types.ts';
import { reportStrictErrors } from '../body.ts';
import { managedProjection, managedTypeOf, writerOf } from '../managed-fields.ts';
import type { Candidate, WriteRequest } from '../write-request.ts';
import { copyObject, replacedCandidate, setDefaults } from './content.ts';
import { newCandidate } from './create.ts';
import { checkNamespaceAndName, notFound } from './metadata.ts';
import { notAnObject } from './patch.ts';

type Apply = Change & { readonly verb: 'patch' };

/** The candidate of an apply, which creates the object when there is none. @throws StatusError */
export function* applyCandidate(
  request: WriteRequest,
  change: Apply,
  old: ApiObject | undefined,
): WaitingSteps<Candidate> {
  const { target } = request;
  if (old === undefined && target.subresource !== '') throw notFound(target);
  const body = yield* applyConfiguration(request, change, old);
  const { metadata } = body;
  checkNamespaceAndName(target, metadata);
  if (old !== undefined) return yield* replacedCandidate(request, body, old);
  const { uid = '' } = metadata;
  if (uid !== '') {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw statusError.conflict(target.resource.id, target.name, why);
  }
  metadata.resourceVersion = '';
  return newCandidate(request, body);
}

/** Applies the configuration to the object, with its managed fields. @throws StatusError 400, 409, 500 */
function* applyConfiguration(
  request: WriteRequest,
  change: Apply,
  old: ApiObject | undefined,
): WaitingSteps<ApiObject> {
  const { registry, target, options } = request;
  const { malformed } = change;
  const findings = (change.findings ?? []).map((finding) => `error converting YAML to JSON: ${finding}`);
  const applyConfig = change.patch ?? {};
  if (malformed !== undefined || !isJsonObject(applyConfig)) {
    const why = malformed ?? `error unmarshaling JSON: while decoding JSON: ${notAnObject(applyConfig)}`;
    throw statusError.badRequest(`error decoding YAML: ${why}`);
  }
  yield* checkMembers(applyConfig);
  checkType(target, applyConfig);
  const live = old === undefined ? undefined : yield* managedProjection(target, old);
  const type = managedTypeOf(registry, target, request.conversions);
  const apply = { type, writer: writerOf(request), live, applyConfig, force: options.force };
  const merged = yield* mergeApply(apply);
  yield;
  const normalized = merged.object === live ? live : yield* normalize(registry, target, merged.object);
  const object = yield* settleApply(apply, merged, normalized);
  reportStrictErrors(findings, options, 'error strict decoding YAML');
  yield;
  return yield* toStorageInSteps(target, object === live ? yield* copyObject(object) : object);
}

/** @throws StatusError 400 unless the apply configuration names kind and apiVersion of the target */
function checkType(target: Target, applyConfig: JsonObject): void {
  const expected = requestKind(target);
  const apiVersion = getKey(applyConfig, 'apiVersion');
  const kind = getKey(applyConfig, 'kind');
  if (apiVersion === expected.apiVersion && kind === expected.kind) return;
  const text = (value: Json | undefined) => (typeof value === 'string' ? shorten(value) : '');
  const { group = '', version = '' } = parseGroupVersion(text(apiVersion)) ?? {};
  throw statusError.badRequest(`invalid object type: ${group}/${version}, Kind=${text(kind)}`);
}

/** The object of the target as it would be stored: decoded, with all defaults. Neither keeps nor changes its argument. */
function* normalize(registry: RegistryContext, target: Target, object: JsonObject): Steps<ApiObject> {
  const { kind, apiVersion, type } = requestKind(target);
  const { applied: decoder = type } = type;
  const { value } = isLarge(object) ? yield* decoder.decodeInSteps(object) : decoder.decode(object);
  const metadata = isJsonObject(value['metadata']) ? value['metadata'] : {};
  const decoded = Object.assign(value, { kind, apiVersion, metadata }) as ApiObject;
  if (target.resource.definition.strategy.defaults === undefined || projectionOf(target) !== undefined) return decoded;
  const stored = yield* toStorageInSteps(target, decoded);
  const defaults = setDefaults(target.resource, stored, { names: registry.names, now: registry.clock.now() });
  if (defaults !== undefined) yield* defaults;
  return yield* fromStorageInSteps(target, stored);
}
