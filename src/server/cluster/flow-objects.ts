/** The bootstrap flow schemas and priority levels, and the status of flow schemas. */
import type { Client } from '../../client/index.ts';
import {
  type ApiObject,
  annotationOf,
  at,
  type Clock,
  formatTime,
  isJsonObject,
  isStatus,
  type Json,
  type JsonObject,
  jsonEqual,
  type Names,
} from '../../meta/index.ts';
import { bootstrapFlowObjects, flowUpdateAnnotation, mandatoryFlows, mandatoryLevels } from '../../resources/index.ts';
import type { Log } from '../dependencies.ts';
import { flowManager } from './bootstrap-objects.ts';

export interface FlowObjectOptions {
  readonly client: Client;
  readonly names: Names;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether flow schemas have an effect, and so a status. */
  readonly hasStatus: boolean;
  /** True during shutdown, when nothing may be written. */
  readonly closing: () => boolean;
}

/** The field manager of the status. */
const statusManager = 'api-priority-and-fairness-config-consumer-v1';

/** A kind of the group, with its objects and those that should exist. */
interface FlowKind {
  readonly place: { readonly apiVersion: string; readonly resource: string };
  readonly existing: ReadonlyMap<string, ApiObject>;
  readonly expected: ReadonlyMap<string, ReturnType<typeof bootstrapFlowObjects>[number]>;
  readonly mandatory: ReadonlyMap<string, JsonObject>;
}

/**
 * Returns a function that creates missing bootstrap objects of flow control and corrects their specs: always those of
 * mandatory objects, and those of suggested objects unless a user has changed them or annotated that they stay. It also
 * sets the condition `Dangling` of all flow schemas. The function never rejects: what fails is left to the next call.
 */
export function createFlowReconciler(options: FlowObjectOptions): () => Promise<void> {
  const { log, closing, hasStatus } = options;
  let failing = false;
  const reconcile = async () => {
    if (closing()) return;
    try {
      const levels = await readKind(options, 'prioritylevelconfigurations', mandatoryLevels);
      const schemas = await readKind(options, 'flowschemas', mandatoryFlows);
      if (levels === undefined || schemas === undefined) return;
      await reconcileSpecs(options, levels);
      await reconcileSpecs(options, schemas);
      if (hasStatus) await reconcileStatus(options, schemas, levels);
      failing = false;
    } catch (error) {
      // On a conflict another server has reconciled the object, or the next call will.
      if (failing || closing() || isStatus(error, 409) || isStatus(error, 404)) return;
      failing = true;
      log.warn('failed to reconcile the flow schemas and priority levels', { error });
    }
  };
  let last = Promise.resolve();
  return () => {
    last = last.then(reconcile);
    return last;
  };
}

/** Undefined when the resource is not served. */
async function readKind(
  { client, names }: FlowObjectOptions,
  resource: string,
  mandatory: ReadonlyMap<string, JsonObject>,
): Promise<FlowKind | undefined> {
  const place = { apiVersion: `flowcontrol.apiserver.${names.domain}/v1`, resource };
  const list = await client.list<ApiObject>(place, { resourceVersion: '0' }).catch((error: unknown) => {
    if (isStatus(error, 404)) return undefined;
    throw error;
  });
  if (list === undefined) return undefined;
  const own = bootstrapFlowObjects(names).filter((object) => object.resource === resource);
  return {
    place,
    mandatory,
    existing: new Map(list.items.map((item) => [item.metadata.name ?? '', item])),
    expected: new Map(own.map((object) => [object.metadata.name, object])),
  };
}

async function reconcileSpecs({ client, names }: FlowObjectOptions, kind: FlowKind): Promise<void> {
  const { place, existing, expected, mandatory } = kind;
  const annotation = flowUpdateAnnotation(names);
  const options = { fieldManager: flowManager };
  for (const [name, { kind: type, apiVersion, metadata, fields }] of expected) {
    const current = existing.get(name);
    if (current === undefined) {
      await client.create(place, { kind: type, apiVersion, metadata, ...fields }, options);
      continue;
    }
    const desired = reconciled(current, fields.spec, annotation, mandatory.has(name));
    if (desired !== undefined) await client.update({ ...place, name }, desired, options);
  }
  for (const [name, object] of existing) {
    // It was a bootstrap object of another release.
    if (expected.has(name) || annotationOf(object, annotation) !== 'true') continue;
    const { uid = '', resourceVersion = '' } = object.metadata;
    await client.delete({ ...place, name }, { preconditions: { uid, resourceVersion } });
  }
}

/** The object as it should be; undefined when it is so already. */
function reconciled(
  current: ApiObject,
  expected: JsonObject,
  annotation: string,
  isMandatory: boolean,
): ApiObject | undefined {
  const spec = current['spec'] as JsonObject;
  // Users may change the shares of the exempt level.
  const exempt = at(spec, 'exempt');
  const fixed = isMandatory && exempt !== undefined ? { ...expected, exempt } : expected;
  const isSame = jsonEqual(spec, fixed);
  const value = annotationOf(current, annotation);
  const isUpdated = isMandatory || value === 'true' || (value !== 'false' && isSame);
  const text = String(isUpdated);
  if (value === text && (isSame || !isUpdated)) return undefined;
  const metadata = { ...current.metadata, annotations: { ...current.metadata.annotations, [annotation]: text } };
  return { ...current, metadata, spec: isUpdated ? fixed : spec };
}

/** Sets the condition that says whether the level of a schema exists. */
async function reconcileStatus(
  { client, clock }: FlowObjectOptions,
  { place, existing }: FlowKind,
  levels: FlowKind,
): Promise<void> {
  for (const [name, object] of existing) {
    const level = at(object['spec'] as Json, 'priorityLevelConfiguration', 'name');
    if (typeof level !== 'string') continue;
    const isMissing = !levels.existing.has(level) && !levels.expected.has(level);
    const found = isMissing ? 'but there is no such object' : 'and it exists';
    const condition = {
      type: 'Dangling',
      status: isMissing ? 'True' : 'False',
      reason: isMissing ? 'NotFound' : 'Found',
      message: `This FlowSchema references the PriorityLevelConfiguration object named "${level}" ${found}`,
    };
    const conditions = at(object['status'] as Json, 'conditions');
    const current = (Array.isArray(conditions) ? conditions : []).find((one) => at(one, 'type') === 'Dangling');
    if (isJsonObject(current) && jsonEqual({ ...current, ...condition }, current)) continue;
    const since = at(current, 'status') === condition.status ? at(current, 'lastTransitionTime') : undefined;
    const lastTransitionTime = since ?? formatTime(clock.now());
    const applied = {
      apiVersion: place.apiVersion,
      kind: 'FlowSchema',
      metadata: { name },
      status: { conditions: [{ ...condition, lastTransitionTime }] },
    };
    await client.apply({ ...place, name, subresource: 'status' }, applied, {
      fieldManager: statusManager,
      force: true,
    });
  }
}
