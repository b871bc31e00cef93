import type { KindPlace } from '../../client/index.ts';
import { dns1123Subdomain, isStatus, type JsonObject, StatusError } from '../../meta/index.ts';
import type { PodTemplateSpec } from '../../types/core-v1.ts';
import type { ControllerContext } from '../types.ts';
import { apiVersionOf, type Named } from './kind.ts';
import * as kinds from './kinds.ts';
import { controllerReference } from './owners.ts';
import type { Pod } from './pods.ts';

type Context = Pick<ControllerContext, 'client' | 'events' | 'names'>;

/** The owner of pods, with its kind for owner references and events. */
export interface PodOwner {
  readonly kind: KindPlace;
  readonly object: Named;
}

/** A pod of a template, controlled by the owner, with a generated name. */
export function podFromTemplate(
  { names }: Pick<Context, 'names'>,
  { kind, object }: PodOwner,
  template: PodTemplateSpec,
): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  const { name = '', namespace } = object.metadata;
  return {
    metadata: {
      generateName: namePrefix(name),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels: { ...labels } }),
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
      ownerReferences: [controllerReference(kind, object, names)],
    },
    spec: structuredClone(template.spec ?? {}),
  };
}

/** The name with a hyphen, if that is the beginning of a valid name. */
export const namePrefix = (name: string): string => (dns1123Subdomain(`${name}-a`).length === 0 ? `${name}-` : name);

/** Creates a pod of the owner, and records it. @throws StatusError also recorded, unless the namespace is being deleted */
export async function createPod({ client, events, names }: Context, owner: PodOwner, pod: Pod): Promise<Pod> {
  const subject = { ...owner.object, apiVersion: apiVersionOf(owner.kind, names), kind: owner.kind.kind };
  try {
    const created = await client.kind(kinds.pods).create(pod);
    events.record(subject, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
    return created;
  } catch (error) {
    if (!isTerminatingNamespace(error)) {
      events.record(subject, 'Warning', 'FailedCreate', `Error creating: ${messageOf(error)}`);
    }
    throw error;
  }
}

/** Deletes a pod of the owner and records an event. Ignores a pod that no longer exists. */
export async function deletePod({ client, events, names }: Context, owner: PodOwner, pod: Pod): Promise<void> {
  const subject = { ...owner.object, apiVersion: apiVersionOf(owner.kind, names), kind: owner.kind.kind };
  const name = pod.metadata.name ?? '';
  try {
    await client.kind(kinds.pods).delete(pod.metadata);
    events.record(subject, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
  } catch (error) {
    // Gone, or another pod has its name by now.
    if (isStatus(error, 404) || isStatus(error, 409)) return;
    events.record(subject, 'Warning', 'FailedDelete', `Error deleting: ${messageOf(error)}`);
    throw new Error(`unable to delete pods: ${messageOf(error)}`, { cause: error });
  }
}

/** A creation failed because the namespace is being deleted: later ones will, too. */
export const isTerminatingNamespace = (error: unknown): boolean =>
  error instanceof StatusError &&
  ((error.details?.causes ?? []) as readonly JsonObject[]).some(({ reason }) => reason === 'NamespaceTerminating');

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Calls `call` with 0 to `count` - 1 in batches that double as long as they succeed, beginning with one; none follows a
 * batch with a failure. So calls that all fail for the same reason are few. Throws the first failure.
 */
export async function slowStart(count: number, call: (i: number) => Promise<unknown>): Promise<void> {
  for (let created = 0, batch = 1; created < count; created += batch, batch = Math.min(2 * batch, count - created)) {
    const first = created;
    const calls = await Promise.allSettled(
      Array.from({ length: Math.min(batch, count - first) }, (_, i) => call(first + i)),
    );
    const failed = calls.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}
