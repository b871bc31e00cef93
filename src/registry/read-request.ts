import type { AdmissionRequest } from '../admission/index.ts';
import type { ApiObject } from '../meta/index.ts';
import type { RegistryContext } from './context.ts';
import { conversionsOf } from './conversions.ts';
import { projectionOf, requestKind, versionOf } from './convert.ts';
import { readDeleteOptions, warnWithoutPolicy } from './delete-options.ts';
import { checkPatchFormat } from './patch.ts';
import { checkName } from './selection.ts';
import type { Change, Target, WriteOptions } from './types.ts';

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
  const { target, change, options, dryRun } = request;
  const { group, plural } = target.resource.definition;
  const { version } = versionOf(target).declared;
  const kind = requestKind(target);
  const deletes = change.verb === 'delete';
  const projection = projectionOf(target);
  return {
    operation: old === undefined && !deletes ? 'CREATE' : operations[change.verb],
    kind: { group: kind.group, version: kind.version, kind: kind.kind },
    resource: { group, version, resource: plural },
    subresource: target.subresource,
    namespace: target.namespace,
    name: nameOf(pending),
    object: deletes ? undefined : (pending.projection ?? pending.object),
    oldObject: old === undefined || projection === undefined ? old : projection.read(old),
    user: options.requester,
    dryRun,
    warn: (text) => options.warnings.add(text),
    annotate: options.annotate,
    onAbandon: (step) => undo.push(step),
  };
}
