import { type ObjectMeta, pathSegmentName, StatusError, statusError } from '../../meta/index.ts';
import { type CreateHandler, preconditionFault } from '../../registry/index.ts';
import type { Infer, ObjectOf } from '../../schema/index.ts';
import { type Binding, Pod, type PodCondition } from '../../types/core-v1.ts';
import { neverProbed, withCondition } from '../shared/conditions.ts';
import type { PodObject } from './pod-object.ts';

/** The create handler of `bindings` and `pods/binding`: sets `nodeName`, once. */
export const bindPod: CreateHandler = async (posted, { namespace, name, objects, now, dryRun }) => {
  const { target = {}, metadata } = posted as ObjectOf<typeof Binding>;
  const { kind = '', name: node = '' } = target;
  // As in the reference server, the error has neither a reason nor details.
  const wrong: string[] = [];
  if (kind !== '' && kind !== 'Node') {
    wrong.push(`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`);
  }
  if (node === '') wrong.push('target.name: Required value');
  if (wrong.length > 0) throw new StatusError(500, '', wrong.length === 1 ? (wrong[0] ?? '') : `[${wrong.join(', ')}]`);
  if (name === '') throw statusError.badRequest('Name parameter required.');
  const odd = pathSegmentName(name);
  if (odd.length > 0) {
    throw statusError.badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${odd.join(';')}`);
  }
  await objects.guaranteedUpdate(Pod, namespace, name, (pod) => {
    const notMeant = checkMeant(metadata, pod.metadata);
    if (notMeant !== undefined) {
      const why = preconditionFault(`/pods/${namespace}/${name}`, notMeant, dryRun);
      throw statusError.conflict({ group: '', resource: 'pods' }, name, why);
    }
    const why = checkFree(pod);
    if (why !== undefined) throw statusError.conflict({ group: '', resource: 'pods/binding' }, name, why);
    pod.spec = { ...pod.spec, nodeName: node };
    for (const field of ['annotations', 'labels'] as const) {
      const entries = metadata[field] ?? {};
      if (Object.keys(entries).length > 0) pod.metadata[field] = { ...pod.metadata[field], ...entries };
    }
    pod.status = { ...pod.status, conditions: withCondition(pod.status?.conditions, scheduled, now) };
  });
};

const scheduled: Infer<typeof PodCondition> = { ...neverProbed, type: 'PodScheduled', status: 'True' };

function checkMeant({ uid = '', resourceVersion = '' }: ObjectMeta, current: ObjectMeta): string | undefined {
  if (uid !== '' && uid !== current.uid) {
    return `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.uid}`;
  }
  if (resourceVersion !== '' && resourceVersion !== current.resourceVersion) {
    return `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${current.resourceVersion}`;
  }
  return undefined;
}

function checkFree({ metadata, spec = {} }: PodObject): string | undefined {
  const { name = '', deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined) return `pod ${name} is being deleted, cannot be assigned to a host`;
  if (spec.nodeName) return `pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`;
  if ((spec.schedulingGates ?? []).length > 0) return `pod ${name} has non-empty .spec.schedulingGates`;
  return undefined;
}
