import { keyOf } from '../../client/index.ts';
import { formatMicroTime, type Json, jsonEqual, parseTime } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import type { Lease } from '../../types/coordination-v1.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller, ControllerContext } from '../types.ts';
import { ignoringAbsence } from './absence.ts';
import { behaviourOf } from './behaviour.ts';
import {
  fakeNodeIndex,
  fakeNodeName,
  nodeAddress,
  nodeConditions,
  nodeObject,
  podAddress,
  podAddresses,
} from './node-object.ts';
import { isTerminal, type NodeObject, type PodObject, type PodStatus } from './objects.ts';
import { progressOf } from './pod-status.ts';

export interface FakeNodesOptions {
  /** How many nodes there are. */
  readonly count: number;
  /** The version that their kubelets report. */
  readonly version: string;
}

/** How often a kubelet renews its lease, how long that is valid, and how often it reports a status that is the same (ms). */
const renewMs = 10_000;
const leaseSeconds = 40;
const reportMs = 300_000;
/** Of how many pods the status is written at a time: a durable store writes them together. */
const reports = 64;

/**
 * Keeps the fake nodes, and carries out the pods that are bound to them: containers start, become ready, end and are
 * restarted without being run, as the pod's annotations tell.
 */
export const fakeKubelet = (options: FakeNodesOptions): Controller => ({
  name: 'fake-kubelet',
  needs: [kinds.nodes, kinds.pods],
  account: 'fake-kubelet',
  eventSource: 'kubelet',
  user: { name: 'system:fake-kubelet', groups: ['system:nodes'], agent: 'kubelet', clusterRole: 'system:node' },
  start(context) {
    startNodes(context, options);
    startPods(context, options);
  },
});

function startNodes({ client, clock, informers, names, queue }: ControllerContext, options: FakeNodesOptions): void {
  const nodes = informers.of(kinds.nodes);
  const registered = new Set<string>();
  const leases = new Map<string, { readonly lease: ObjectOf<typeof Lease>; readonly renewed: number }>();
  const notReady = `node.${names.labels}/not-ready`;

  const renew = async (node: NodeObject): Promise<void> => {
    const { name = '', uid = '' } = node.metadata;
    const renewal = leases.get(name);
    if (renewal !== undefined && clock.now() < renewal.renewed + renewMs) return;
    leases.delete(name);
    const currentLease =
      renewal?.lease ?? (await client.kind(kinds.leases).find({ namespace: names.nodeLeaseNamespace, name }));
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid };
    const lease = {
      metadata: { ...currentLease?.metadata, namespace: names.nodeLeaseNamespace, name, ownerReferences: [owner] },
      spec: { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime: formatMicroTime(clock.now()) },
    };
    const written = await (currentLease === undefined
      ? client.kind(kinds.leases).create(lease)
      : client.kind(kinds.leases).update(lease));
    leases.set(name, { lease: written, renewed: clock.now() });
  };

  const report = async (node: NodeObject): Promise<void> => {
    const now = clock.now();
    const { spec, status } = node;
    const conditions = nodeConditions(node, now);
    const isSame = conditions.every(({ type, status: expectedStatus }) =>
      status?.conditions?.some((one) => one.type === type && one.status === expectedStatus),
    );
    const last = status?.conditions?.find(({ type }) => type === 'Ready')?.lastHeartbeatTime;
    if (!isSame || !last || now >= parseTime(last) + reportMs) {
      const index = fakeNodeIndex(node.metadata.name ?? '', options.count) ?? 0;
      const whole = nodeObject(index, options.version, names, now).status ?? {};
      const { capacity = whole.capacity, allocatable = whole.allocatable } = status ?? {};
      const patch = { ...whole, capacity, allocatable, conditions };
      await client
        .kind(kinds.nodes)
        .subresource('status')
        .patch(node.metadata, 'strategic', { status: patch as Json });
      return;
    }
    const taints = spec?.taints?.filter(({ key, effect }) => key !== notReady || effect !== 'NoSchedule');
    if (taints?.length !== spec?.taints?.length) {
      await client.kind(kinds.nodes).update({ ...node, spec: { ...spec, taints: taints ?? [] } });
    }
  };

  const work = queue('fake_nodes', async (name) => {
    const node = nodes.get('', name);
    if (node === undefined) {
      leases.delete(name);
      // A kubelet registers its node when it starts: one that is deleted later stays away.
      if (registered.has(name)) return undefined;
      const index = fakeNodeIndex(name, options.count) ?? 0;
      await client.kind(kinds.nodes).create(nodeObject(index, options.version, names, clock.now()));
      registered.add(name);
      return undefined;
    }
    registered.add(name);
    await report(node);
    await renew(node);
    return { requeueAfterMs: renewMs };
  });
  nodes.onChange((node) => {
    const { name = '' } = node?.metadata ?? {};
    if (fakeNodeIndex(name, options.count) !== undefined) work.add(name);
  });
  for (let index = 0; index < options.count; index++) work.add(fakeNodeName(index));
}

function startPods(
  { client, clock, events, informers, names, queue }: ControllerContext,
  options: FakeNodesOptions,
): void {
  const pods = informers.of(kinds.pods);
  const networks = new PodNetworks(
    pods.indexBy('addressOfRunning', (pod) => (isTerminal(pod) ? [] : [pod.status?.podIP ?? ''])),
  );
  /** The uids of pods whose end has been announced. */
  const ending = new Set<string>();
  const nodeOf = (pod: PodObject) => fakeNodeIndex(pod.spec?.nodeName ?? '', options.count);

  const announce = (pod: PodObject, problems: readonly string[]): void => {
    const { deletionTimestamp, uid = '' } = pod.metadata;
    const host = pod.spec?.nodeName ?? '';
    if (!pod.status?.startTime) {
      for (const problem of problems) events.record(pod, 'Warning', 'InvalidAnnotation', problem, host);
    }
    if (deletionTimestamp === undefined || ending.has(uid)) return;
    ending.add(uid);
    for (const { name = '', state } of pod.status?.containerStatuses ?? []) {
      if (state?.running === undefined) continue;
      const subject = { ...pod, fieldPath: `spec.containers{${name}}` };
      events.record(subject, 'Normal', 'Killing', `Stopping container ${name}`, host);
    }
  };

  const reconcile = async (key: string) => {
    const pod = pods.getByKey(key);
    const index = pod === undefined ? undefined : nodeOf(pod);
    if (pod === undefined || index === undefined) return undefined;
    const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = pod.metadata;
    if (isTerminal(pod)) {
      // Without a grace period it waits for its finalizers; with none a server was stopped as it deleted the pod.
      const waits = deletionGracePeriodSeconds === 0 && finalizers.length > 0;
      if (deletionTimestamp === undefined || waits) return undefined;
      await ignoringAbsence(client.kind(kinds.pods).delete(pod.metadata, { gracePeriodSeconds: 0 }));
      return undefined;
    }
    const { behaviour, problems } = behaviourOf(pod, names);
    announce(pod, problems);
    const network = { hostIP: nodeAddress(index), allocate: () => networks.allocate(index) };
    const { status, events: happened, wakeMs } = progressOf(pod, clock.now(), behaviour, network);
    if (!jsonEqual((pod.status ?? {}) as Json, status as Json)) {
      await ignoringAbsence(
        client.kind(kinds.pods).subresource('status').patch(pod.metadata, 'strategic', patchOf(pod, status)),
      );
    }
    for (const { type, reason, message, fieldPath = '' } of happened) {
      events.record({ ...pod, fieldPath }, type, reason, message, pod.spec?.nodeName ?? '');
    }
    return Number.isFinite(wakeMs) ? { requeueAfterMs: wakeMs } : undefined;
  };
  // A report is one write, so the pods of one namespace may use all workers.
  const work = queue('fake_kubelet', reconcile, { workers: reports, groupOf: () => '' });
  pods.onChange((pod, old) => {
    const changed = pod ?? old;
    if (changed === undefined || nodeOf(changed) === undefined) return;
    if (pod === undefined) ending.delete(changed.metadata.uid ?? '');
    else work.add(keyOf(pod));
  });
}

/** The fields that a kubelet writes. Conditions are merged by type: what one no longer says is removed. */
function patchOf({ metadata: { uid = '' } }: PodObject, status: PodStatus): object {
  const { conditions = [], ...others } = status;
  const patch = {
    ...others,
    conditions: conditions.map((condition) => ({ reason: null, message: null, ...condition })),
    '$setElementOrder/conditions': conditions.map(({ type }) => ({ type })),
  };
  return { metadata: { uid }, status: patch };
}

/** The addresses of pods, each node with a range of its own. */
class PodNetworks {
  readonly #users: { get(address: string): readonly PodObject[] };
  /** Where the search for a free address begins, by node. */
  readonly #next = new Map<number, number>();

  constructor(users: { get(address: string): readonly PodObject[] }) {
    this.#users = users;
  }

  /** An address of the node that no pod has that runs, and that was not given lately. @throws Error when none is left */
  allocate(index: number): string {
    for (let tried = 0; tried < podAddresses; tried++) {
      const next = this.#next.get(index) ?? 0;
      this.#next.set(index, (next + 1) % podAddresses);
      const address = podAddress(index, next);
      if (this.#users.get(address).length === 0) return address;
    }
    throw new Error(`node ${fakeNodeName(index)} has no free address for another pod`);
  }
}
