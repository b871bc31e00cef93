import { type AdmissionRequest, runMutating, runValidating } from '../../admission/index.ts';
import { type ApiObject, accessDenied, type JsonObject } from '../../meta/index.ts';
import type { Compare } from '../../store/index.ts';
import { waitForRevision } from '../context.ts';
import { ObjectVersions, servedKind } from '../resource/request-versions.ts';
import type { Resource } from '../resource/resource.ts';
import { projectionOf } from '../resource/target.ts';
import type { WriteOptions } from '../types.ts';
import { type Attempt, type Candidate, nameOf, type Undo, type WriteRequest } from './write-request.ts';

/** Runs the mutating plugins on the candidate. @throws StatusError of the first plugin that rejects it */
export function runMutatingAdmission(attempt: Attempt): Promise<void> | undefined {
  const { request, candidate, old, undo } = attempt;
  const attributes = admissionRequest(request, candidate, old, undo);
  attempt.attributes = attributes;
  // Mutating admission does not see a generated name.
  const visible = candidate.generated ? { ...attributes, name: '' } : attributes;
  const mutated = runMutating(request.registry.admission, visible);
  if (mutated instanceof Promise) return mutated.then((known) => setMutated(attempt, known));
  setMutated(attempt, mutated);
  return undefined;
}

function setMutated(attempt: Attempt, mutated: boolean): void {
  attempt.mutated = mutated;
  attempt.candidate.admitted = true;
}

/** Runs the validating plugins on the object to be stored. @throws StatusError of the first plugin that rejects it */
export const runValidatingAdmission = ({ request, attributes }: Attempt): Promise<void> | undefined =>
  runValidating(request.registry.admission, attributes);

/** @throws StatusError 403 when the requester may not create the object that its update or patch would make */
export function authorizeCreate({ request, old }: Attempt): Promise<void> | undefined {
  const { change, options } = request;
  if (old !== undefined || change.verb === 'create' || options.attributes === undefined) return undefined;
  return authorizeVerb(request, options.attributes, 'create');
}

async function authorizeVerb(
  { registry, options: { requester: user } }: WriteRequest,
  resource: NonNullable<WriteOptions['attributes']>,
  verb: string,
): Promise<void> {
  const { allowed, reason } = await registry.authorize(user, { ...resource, verb });
  if (!allowed) throw accessDenied({ user, verb, resource, path: '' }, reason);
}

const operations = { create: 'CREATE', update: 'UPDATE', patch: 'UPDATE', delete: 'DELETE' } as const;

export function admissionRequest(
  request: WriteRequest,
  candidate: Candidate,
  old: ApiObject | undefined,
  undo: Undo[],
): AdmissionRequest {
  const { registry, target, change, options, dryRun, context } = request;
  const deletes = change.verb === 'delete';
  const operation = old === undefined && !deletes ? 'CREATE' : operations[change.verb];
  const object = deletes ? undefined : (candidate.projection ?? candidate.object);
  const oldObject = old === undefined ? undefined : (projectionOf(target)?.read(old) ?? old);
  return {
    operation,
    ...servedKind(target),
    subresource: target.subresource,
    namespace: target.namespace,
    // As in the reference server, a deletion of a collection names no object.
    name: deletes && change.ofCollection === true ? '' : target.name || nameOf(candidate),
    object,
    oldObject,
    user: options.requester,
    dryRun,
    began: context.now,
    options: () => optionsOf(request, operation),
    versions: new ObjectVersions({ registry, target, object, oldObject, candidate, context }),
    warn: options.warn,
    annotate: options.annotate,
    stages: options.stages,
    turns: options.turns,
    onAbandon: (step) => undo.push(step),
    ...guardsOf(request, candidate),
  };
}

const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

/** The options of a write as admission reviews show them: a patch has those of the create or update that it becomes. */
function optionsOf({ registry, change, options }: WriteRequest, operation: keyof typeof optionKinds): JsonObject {
  const sent = change.verb === 'delete' ? change.options : sentOptions(options);
  const visible: JsonObject = { kind: optionKinds[operation], apiVersion: `meta.${registry.names.domain}/v1` };
  for (const [name, value] of Object.entries(sent)) {
    const absent = value === null || value === '' || (Array.isArray(value) && value.length === 0);
    if (!absent && name !== 'kind' && name !== 'apiVersion') visible[name] = value;
  }
  return visible;
}

function sentOptions({
  sent: { dryRun = [], fieldManager = '', fieldValidation = '' } = {},
}: WriteOptions): JsonObject {
  return { dryRun: [...dryRun], fieldManager, fieldValidation };
}

/** The guards that admission may set. The first one of a key holds: later reads in the attempt must be the same. */
function guardsOf(
  { registry, target: { namespace } }: WriteRequest,
  candidate: Candidate,
): Pick<AdmissionRequest, 'guardNamespace' | 'guardList'> {
  const { findResource } = registry.catalog;
  const guard = (resource: Resource | undefined, compareFor: (prefix: string) => Compare) => {
    if (resource === undefined) return;
    const compare = compareFor(resource.keyPrefix + namespace);
    candidate.guards ??= new Map();
    if (!candidate.guards.has(compare.key)) candidate.guards.set(compare.key, { resource, compare });
  };
  return {
    guardNamespace: (revision) => guard(findResource('namespaces'), (key) => ({ key, revision })),
    guardList: (resource, revision) =>
      guard(findResource(resource), (prefix) => ({ key: `${prefix}/`, revision, below: true })),
  };
}

export const comparesOf = ({ guards }: Candidate): Compare[] =>
  guards === undefined ? [] : [...guards.values()].map(({ compare }) => compare);

/** Resolves once this server has seen the change that rejected a commit at `revision`. @throws StatusError 504 */
export async function catchUp({ guards }: Candidate, revision: number): Promise<void> {
  for (const { resource } of guards?.values() ?? []) await waitForRevision(resource, revision);
}
