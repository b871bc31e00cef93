/** The workloads that roll out, and their revisions. */
import { at, isJsonObject, type Json, type JsonObject } from '../../../meta/index.ts';
import type { PodTemplateSpec } from '../../../types/core-v1.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { pathOf, type Resource } from '../../cluster/resource.ts';
import { CommandError } from '../../errors.ts';
import { resourceOf, type Target } from '../../objects/targets.ts';
import { jsonText } from '../../output/json.ts';

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const numberOf = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);

/** An object at a path; empty where there is none. */
function objectAt(value: JsonObject, ...path: string[]): JsonObject {
  const found = at(value, ...path);
  return isJsonObject(found) ? found : {};
}

const statusNumber = (object: JsonObject, field: string): number => numberOf(at(object, 'status', field));

/** A revision of a workload, with the pod template that it had. */
export interface Revision {
  readonly number: number;
  readonly cause: string;
  /** The pod template without the hash that the controller adds. */
  readonly template: JsonObject;
  /** The replica set of the revision; for other workloads the workload with the pod template of the revision. */
  readonly object: JsonObject;
}

/** The annotation of the reason of a change, whose prefix is that of the labels of the API domain. */
const causeKey = (labels: string): string => `${labels}/change-cause`;
const revisionKey = (labels: string): string => `deployment.${labels}/revision`;
const hashLabel = 'pod-template-hash';

/** The revisions of a workload, the oldest first. @throws CommandError for other kinds */
export async function revisionsOf(cluster: Cluster, target: Target, workload: JsonObject): Promise<Revision[]> {
  const { labels } = (await cluster.discovery()).names;
  const revisions: Revision[] = [];
  const { kind } = target.resource;
  if (!['Deployment', 'DaemonSet', 'StatefulSet'].includes(kind))
    throw new CommandError(`no history viewer has been implemented for ${JSON.stringify(kind)}`);
  const resource = await resourceOf(cluster, kind === 'Deployment' ? 'replicasets.apps' : 'controllerrevisions.apps');
  for (const object of await ownedBy(cluster, resource, target.namespace, workload)) {
    const annotations = at(object, 'metadata', 'annotations');
    const noted = isJsonObject(annotations) ? annotations : {};
    const cause = textOf(noted[causeKey(labels)]);
    if (kind === 'Deployment') {
      const template = withoutHash(objectAt(object, 'spec', 'template'));
      revisions.push({ number: Number(noted[revisionKey(labels)] ?? 0), cause, template, object });
      continue;
    }
    // A controller revision is a patch that replaces the template.
    const { $patch: _, ...template } = objectAt(object, 'data', 'spec', 'template');
    const rolledBack = { ...workload, spec: { ...objectAt(workload, 'spec'), template } };
    revisions.push({ number: numberOf(object['revision']), cause, template, object: rolledBack });
  }
  return revisions.toSorted((a, b) => a.number - b.number);
}

function withoutHash(template: JsonObject): JsonObject {
  const { metadata } = template;
  if (!isJsonObject(metadata) || !isJsonObject(metadata['labels'])) return template;
  const { [hashLabel]: _, ...labels } = metadata['labels'];
  return { ...template, metadata: { ...metadata, labels } };
}

/**
 * The pod template of a revision as it is described: that of a deployment has the cause of the change as an annotation, and
 * the hash.
 */
export function describedTemplate({ object, cause }: Revision, labels: string): PodTemplateSpec {
  const template = objectAt(object, 'spec', 'template');
  const isNoted = cause !== '' && object['kind'] === 'ReplicaSet';
  const annotations = {
    ...objectAt(template, 'metadata', 'annotations'),
    ...(isNoted && { [causeKey(labels)]: cause }),
  };
  const metadata = { ...objectAt(template, 'metadata'), annotations };
  return { ...template, metadata } as unknown as PodTemplateSpec;
}

async function ownedBy(
  cluster: Cluster,
  resource: Resource,
  namespace: string | undefined,
  owner: JsonObject,
): Promise<JsonObject[]> {
  const labels = at(owner, 'spec', 'selector', 'matchLabels');
  const selector = Object.entries(isJsonObject(labels) ? labels : {}).map(
    ([key, value]) => `${key}=${jsonText(value)}`,
  );
  const query = new URLSearchParams({ labelSelector: selector.join(',') });
  const { items } = await cluster.send({ url: `${pathOf(resource, namespace)}?${String(query)}` });
  const uid = at(owner, 'metadata', 'uid');
  const { apiVersion, kind } = resource;
  const objects = (Array.isArray(items) ? items : [])
    .filter(isJsonObject)
    .map((item) => ({ apiVersion, kind, ...item }));
  return objects.filter((item) => {
    const references = at(item, 'metadata', 'ownerReferences');
    return (
      Array.isArray(references) && references.some((reference) => isJsonObject(reference) && reference['uid'] === uid)
    );
  });
}

/** @throws CommandError when another revision than the wanted one is rolled out */
export function checkRevision(object: JsonObject, wanted: number): void {
  const annotations = at(object, 'metadata', 'annotations');
  const entry = Object.entries(isJsonObject(annotations) ? annotations : {}).find(([key]) =>
    /^deployment\..+\/revision$/.test(key),
  );
  const running = Number(entry?.[1] ?? 0);
  if (wanted > 0 && running !== wanted) {
    throw new CommandError(`desired revision (${wanted}) is different from the running revision (${running})`);
  }
}

export interface Progress {
  readonly message: string;
  readonly done: boolean;
}

/** How far a rollout is, in the words of kubectl. @throws CommandError when it has failed, or cannot be followed */
export function progressOf({ kind }: Resource, object: JsonObject): Progress {
  const name = textOf(at(object, 'metadata', 'name'));
  const status = (field: string) => statusNumber(object, field);
  const isSeen = numberOf(at(object, 'metadata', 'generation')) <= status('observedGeneration');
  const replicas = numberOf(at(object, 'spec', 'replicas') ?? 1);
  if (kind === 'Deployment') return deploymentProgress(object, { name, replicas, isSeen });
  const strategy = textOf(at(object, 'spec', 'updateStrategy', 'type'));
  if (strategy !== 'RollingUpdate' && ['DaemonSet', 'StatefulSet'].includes(kind)) {
    throw new CommandError(`rollout status is only available for RollingUpdate strategy type`);
  }
  if (kind === 'DaemonSet') {
    if (!isSeen) return { message: 'Waiting for daemon set spec update to be observed...', done: false };
    const desired = status('desiredNumberScheduled');
    if (status('updatedNumberScheduled') < desired) {
      return {
        message: `Waiting for daemon set "${name}" rollout to finish: ${status('updatedNumberScheduled')} out of ${desired} new pods have been updated...`,
        done: false,
      };
    }
    if (status('numberAvailable') < desired) {
      return {
        message: `Waiting for daemon set "${name}" rollout to finish: ${status('numberAvailable')} of ${desired} updated pods are available...`,
        done: false,
      };
    }
    return { message: `daemon set "${name}" successfully rolled out`, done: true };
  }
  if (kind === 'StatefulSet') return statefulSetProgress(object, { replicas, isSeen });
  throw new CommandError(`no status viewer has been implemented for ${kind}`);
}

interface Rollout {
  readonly replicas: number;
  readonly isSeen: boolean;
}

function deploymentProgress(
  object: JsonObject,
  { name, replicas, isSeen }: Rollout & { readonly name: string },
): Progress {
  const status = (field: string) => statusNumber(object, field);
  if (!isSeen) return { message: 'Waiting for deployment spec update to be observed...', done: false };
  const conditions = at(object, 'status', 'conditions');
  const isLate = (Array.isArray(conditions) ? conditions : []).some(
    (one) => isJsonObject(one) && one['type'] === 'Progressing' && one['reason'] === 'ProgressDeadlineExceeded',
  );
  if (isLate) throw new CommandError(`deployment "${name}" exceeded its progress deadline`);
  const [updated, all, available] = [status('updatedReplicas'), status('replicas'), status('availableReplicas')];
  const waiting = `Waiting for deployment "${name}" rollout to finish:`;
  if (updated < replicas)
    return { message: `${waiting} ${updated} out of ${replicas} new replicas have been updated...`, done: false };
  if (all > updated)
    return { message: `${waiting} ${all - updated} old replicas are pending termination...`, done: false };
  if (available < updated)
    return { message: `${waiting} ${available} of ${updated} updated replicas are available...`, done: false };
  return { message: `deployment "${name}" successfully rolled out`, done: true };
}

function statefulSetProgress(object: JsonObject, { replicas, isSeen }: Rollout): Progress {
  const status = (field: string) => statusNumber(object, field);
  if (!isSeen) return { message: 'Waiting for statefulset spec update to be observed...', done: false };
  if (status('readyReplicas') < replicas) {
    return { message: `Waiting for ${replicas - status('readyReplicas')} pods to be ready...`, done: false };
  }
  const partition = numberOf(at(object, 'spec', 'updateStrategy', 'rollingUpdate', 'partition'));
  const updated = status('updatedReplicas');
  if (partition > 0) {
    if (updated < replicas - partition) {
      return {
        message: `Waiting for partitioned roll out to finish: ${updated} out of ${replicas - partition} new pods have been updated...`,
        done: false,
      };
    }
    return { message: `partitioned roll out complete: ${updated} new pods have been updated...`, done: true };
  }
  const [next, current] = [at(object, 'status', 'updateRevision'), at(object, 'status', 'currentRevision')];
  if (next !== current) {
    return {
      message: `waiting for statefulset rolling update to complete ${updated} pods at revision ${textOf(next)}...`,
      done: false,
    };
  }
  return {
    message: `statefulset rolling update complete ${status('currentReplicas')} pods at revision ${textOf(current)}...`,
    done: true,
  };
}
