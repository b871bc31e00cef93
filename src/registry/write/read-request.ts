import type { AdmissionRequest } from '../../admission/index.ts';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import type { RegistryContext } from '../context.ts';
import { checkName } from '../read/selection.ts';
import { projectionOf } from '../resource/convert.ts';
import { ObjectVersions, servedKind } from '../resource/request-versions.ts';
import type { Change, Target, WriteOptions } from '../types.ts';
import { conversionsOf } from './conversions.ts';
import { readDeleteOptions, warnWithoutPolicy } from './delete-options.ts';
import { guardsOf } from './guards.ts';
import { checkPatchFormat } from './patch.ts';
import { nameOf, type PendingObject, type Undo, type WriteRequest } from './write-request.ts';

/** Checks what does not depend on the stored object. @throws StatusError */
export function readWriteRequest(
  registry: RegistryContext,
  target: Target,
  change: Change,
  options: WriteOptions,
): WriteRequest {
  checkName(target);
  if (change.verb === 'patch') checkPatchFormat(target, change.format);
  const deletion = change.verb === 'delete' ? readDeleteOptions(change.options, registry) : undefined;
  const { requester, warnings, annotate } = options;
  if (deletion !== undefined) warnWithoutPolicy(target.resource, deletion, warnings);
  return {
    registry,
    target,
    change,
    options,
    deletion,
    dryRun: options.dryRun || deletion?.dryRun === true,
    context: {
      names: registry.names,
      now: registry.clock.now(),
      allowPrivileged: registry.allowPrivileged,
      requester,
      warnings,
      annotate,
    },
    conversions: conversionsOf(target.resource),
    size: (change.verb === 'patch' ? change.size : change.verb === 'delete' ? undefined : change.object.size) ?? 0,
  };
}

const operations = { create: 'CREATE', update: 'UPDATE', patch: 'UPDATE', delete: 'DELETE' } as const;

export function admissionRequest(
  request: WriteRequest,
  pending: PendingObject,
  old: ApiObject | undefined,
  undo: Undo[],
): AdmissionRequest {
  const { registry, target, change, options, dryRun, context } = request;
  const deletes = change.verb === 'delete';
  const operation = old === undefined && !deletes ? 'CREATE' : operations[change.verb];
  const object = deletes ? undefined : (pending.projection ?? pending.object);
  const oldObject = old === undefined ? undefined : (projectionOf(target)?.read(old) ?? old);
  return {
    operation,
    ...servedKind(target),
    subresource: target.subresource,
    namespace: target.namespace,
    // As in the reference server, a deletion of a collection names no object.
    name: deletes && change.ofCollection === true ? '' : target.name || nameOf(pending),
    object,
    oldObject,
    user: options.requester,
    dryRun,
    began: context.now,
    options: () => optionsOf(request, operation),
    versions: new ObjectVersions({ registry, target, object, oldObject, pending, context }),
    warn: (text) => options.warnings.add(text),
    annotate: options.annotate,
    trace: options.stages?.trace,
    turns: options.turns,
    onAbandon: (step) => undo.push(step),
    ...guardsOf(request, pending),
  };
}

const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

/** The options of a write, as admission shows them: a patch has those of the create or update that it becomes. */
function optionsOf({ registry, change, options }: WriteRequest, operation: keyof typeof optionKinds): JsonObject {
  const given: JsonObject = change.verb === 'delete' ? change.options : { ...sentOptions(options) };
  const shown: JsonObject = { kind: optionKinds[operation], apiVersion: `meta.${registry.names.domain}/v1` };
  for (const [name, value] of Object.entries(given)) {
    const absent = value === null || value === '' || (Array.isArray(value) && value.length === 0);
    if (!absent && name !== 'kind' && name !== 'apiVersion') shown[name] = value;
  }
  return shown;
}

function sentOptions({
  sent: { dryRun = [], fieldManager = '', fieldValidation = '' } = {},
}: WriteOptions): JsonObject {
  return { dryRun: [...dryRun], fieldManager, fieldValidation };
}
