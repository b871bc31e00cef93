import { type Clock, formatGroupResource, type JsonObject, type Names, StatusError } from '../meta/index.ts';
import type { ObjectList, Registry, Resource, StrategyContext } from '../registry/index.ts';
import { CustomResourceDefinition } from '../types/apiextensions-v1.ts';
import { type Condition, type Definition, isTrue, setCondition } from './conditions.ts';

/** Holds a definition until its objects are deleted. */
const cleanUpFinalizer = ({ domain }: Names): string => `customresourcecleanup.apiextensions.${domain}`;

const terminating = (status: Condition['status'], reason: string, message: string): Condition => ({
  type: 'Terminating',
  status,
  reason,
  message,
});

/** Adds the finalizer and the condition `Terminating` to a definition that is marked as deleted. */
export function beginCleanUp(definition: Definition, { names, now }: StrategyContext): void {
  const finalizer = cleanUpFinalizer(names);
  const { finalizers = [] } = definition.metadata;
  if (!finalizers.includes(finalizer)) definition.metadata.finalizers = [...finalizers, finalizer];
  const message = 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon';
  setCondition(definition, terminating('True', 'InstanceDeletionPending', message), now);
}

/** Whether the objects of a definition must be deleted. */
export const needsCleanUp = ({ metadata }: Definition, names: Names): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(cleanUpFinalizer(names)) === true;

export interface CleanUpOptions {
  readonly registry: Registry;
  readonly names: Names;
  readonly clock: Clock;
  /** Resolves after `ms`, or at once when the clean-up stops. */
  readonly pause: (ms: number) => Promise<void>;
  readonly stopped: () => boolean;
}

/** How many objects are deleted at a time. */
const stride = 32;
/** The shortest and the longest time between two looks at what is left (ms). */
const firstPauseMs = 50;
const lastPauseMs = 5_000;
/** When the condition says that objects are left (ms). */
const overdueMs = 60_000;

/**
 * Deletes the objects of a definition that has been marked as deleted, waits until their finalizers have been removed,
 * and then removes that of the definition. Several servers may do it at once. @throws StatusError
 */
export async function cleanUp(options: CleanUpOptions, { metadata, spec }: Definition): Promise<void> {
  const { registry, clock, stopped } = options;
  const { name = '', uid } = metadata;
  const { objects } = registry;
  const set = (condition: Condition) =>
    objects.guaranteedUpdate(
      CustomResourceDefinition,
      '',
      name,
      (current) => {
        if (current.metadata.uid === uid) setCondition(current, condition, clock.now());
      },
      'status',
    );
  await set(terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'));
  const definition = await objects.read(CustomResourceDefinition, '', name);
  if (definition.metadata.uid !== uid) return;
  const resource = registry.resourceOf(
    formatGroupResource({ group: spec?.group ?? '', resource: spec?.names?.plural ?? '' }),
  );
  if (!isTrue(definition, 'Established') || resource?.definition.custom === undefined) {
    await set(terminating('False', 'NeverEstablished', 'resource was never established'));
  } else {
    try {
      await deleteObjects(options, resource, set);
    } catch (error) {
      const why = error instanceof StatusError ? error.message : 'unexpected failure';
      await set(terminating('True', 'InstanceDeletionFailed', `could not issue all deletes: ${why}`));
      throw error;
    }
    if (stopped()) return;
    await set(terminating('False', 'InstanceDeletionCompleted', 'removed all instances'));
  }
  await removeFinalizer(options, name, uid);
}

/** Resolves when no object remains, or when the clean-up stops. */
async function deleteObjects(
  { registry, clock, pause, stopped }: CleanUpOptions,
  resource: Resource,
  set: (condition: Condition) => Promise<unknown>,
): Promise<void> {
  const overdue = clock.now() + overdueMs;
  let reported = false;
  for (let waitMs = firstPauseMs; !stopped(); waitMs = Math.min(2 * waitMs, lastPauseMs)) {
    if ((await deleteListed(registry, resource)) === 0) return;
    if (isEmpty(await listOf(registry, resource))) return;
    if (!reported && clock.now() >= overdue) {
      reported = true;
      const message = 'could not confirm zero CustomResources remaining: timed out waiting for the condition';
      await set(terminating('True', 'InstanceDeletionCheck', message));
    }
    await pause(waitMs);
  }
}

const listOf = (registry: Registry, resource: Resource): Promise<ObjectList> =>
  registry.list(
    { resource, version: resource.storageVersion.declared.version, namespace: '', name: '', subresource: '' },
    {},
  );

const isEmpty = ({ items }: ObjectList): boolean => items[Symbol.iterator]().next().done === true;

/** Deletes all objects by the rules of their kind; returns how many there were. */
async function deleteListed(registry: Registry, resource: Resource): Promise<number> {
  const id = formatGroupResource(resource.id);
  const options: JsonObject = {};
  let seen = 0;
  let batch: Promise<void>[] = [];
  for (const { namespace, name } of (await listOf(registry, resource)).items) {
    seen += 1;
    batch.push(registry.objects.delete(id, namespace, name, options).catch(unlessGone));
    if (batch.length < stride) continue;
    await Promise.all(batch);
    batch = [];
  }
  await Promise.all(batch);
  return seen;
}

function unlessGone(error: unknown): void {
  if (!(error instanceof StatusError) || error.code !== 404) throw error;
}

async function removeFinalizer({ registry, names, stopped }: CleanUpOptions, name: string, uid: string | undefined) {
  const finalizer = cleanUpFinalizer(names);
  while (!stopped()) {
    try {
      const definition = await registry.objects.read(CustomResourceDefinition, '', name);
      const { finalizers = [] } = definition.metadata;
      if (definition.metadata.uid !== uid || !finalizers.includes(finalizer)) return;
      const metadata = { ...definition.metadata, finalizers: finalizers.filter((one) => one !== finalizer) };
      await registry.objects.update(CustomResourceDefinition, { ...definition, metadata });
      return;
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      // Removed by another server.
      if (error.code === 404) return;
      if (error.code !== 409) throw error;
    }
  }
}
