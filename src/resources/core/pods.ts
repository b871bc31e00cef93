import { Since } from '../../registry/index.ts';
import { age, name, orNone } from '../cells.ts';
import { resource } from '../define.ts';
import { evictPod } from '../policy/eviction.ts';
import { Binding, Pod, type PodSpec, type PodStatus } from '../types/core-v1.ts';
import { Eviction } from '../types/policy-v1.ts';
import { proxyPod } from './connect.ts';
import { bindPod } from './pod-binding.ts';
import { podAttach, podExec, podLog, podPortForward } from './pod-connect.ts';
import type { PodObject } from './pod-object.ts';
import { ephemeralContainers, resources } from './pod-parts.ts';
import { completeAffinity } from './pod-spec/affinity.ts';
import { isNew, same } from './pod-spec/controller.ts';
import { defaultPod, mirrorServiceAccount } from './pod-spec/defaults.ts';
import { validatePodStatusUpdate } from './pod-spec/pod-status.ts';
import { validatePodMetaUpdate, validatePodSpecUpdate } from './pod-spec/pod-update.ts';
import { qosClass } from './pod-spec/qos.ts';
import { validateNewPod, validatePod } from './pod-spec/validate.ts';
import { warnOfPod } from './pod-spec/warnings.ts';

export const pods = resource({
  group: '',
  plural: 'pods',
  kind: 'Pod',
  schema: Pod,
  shortNames: ['po'],
  categories: ['all'],
  status: true,
  subresources: [
    { name: 'attach', verbs: ['create', 'get'], kind: 'PodAttachOptions', connect: podAttach },
    { name: 'binding', verbs: ['create'], kind: 'Binding', schema: Binding, act: bindPod },
    { name: 'ephemeralcontainers', verbs: ['get', 'patch', 'update'], kind: 'Pod', part: ephemeralContainers },
    {
      name: 'eviction',
      verbs: ['create'],
      kind: 'Eviction',
      group: 'policy',
      version: 'v1',
      schema: Eviction,
      act: evictPod,
    },
    { name: 'exec', verbs: ['create', 'get'], kind: 'PodExecOptions', connect: podExec },
    { name: 'log', verbs: ['get'], kind: 'Pod', connect: podLog },
    { name: 'portforward', verbs: ['create', 'get'], kind: 'PodPortForwardOptions', connect: podPortForward },
    {
      name: 'proxy',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
      kind: 'PodProxyOptions',
      connect: proxyPod,
    },
    { name: 'resize', verbs: ['get', 'patch', 'update'], kind: 'Pod', part: resources },
  ],
  columns: [
    name,
    ['Ready', (pod) => `${readyCount(pod)}/${pod.spec?.containers?.length ?? 0}`],
    ['Status', podStatus],
    ['Restarts', restarts],
    age,
    ['IP', ({ status }) => orNone(status?.podIPs?.[0]?.ip ?? status?.podIP), 'wide'],
    ['Node', ({ spec }) => orNone(spec?.nodeName), 'wide'],
    ['Nominated Node', ({ status }) => orNone(status?.nominatedNodeName), 'wide'],
    ['Readiness Gates', readinessGates, 'wide'],
  ],
  selectableFields: [
    { path: 'spec.nodeName', value: ({ spec }) => spec?.nodeName ?? '', indexed: true },
    { path: 'spec.restartPolicy', value: ({ spec }) => spec?.restartPolicy ?? '' },
    { path: 'spec.schedulerName', value: ({ spec }) => spec?.schedulerName ?? '' },
    { path: 'spec.serviceAccountName', value: ({ spec }) => spec?.serviceAccountName ?? '' },
    { path: 'spec.hostNetwork', value: ({ spec }) => String(spec?.hostNetwork ?? false) },
    { path: 'status.phase', value: ({ status }) => status?.phase ?? '' },
    { path: 'status.podIP', value: ({ status }) => status?.podIPs?.[0]?.ip ?? status?.podIP ?? '' },
    { path: 'status.podIPs', value: ({ status }) => status?.podIPs?.[0]?.ip ?? status?.podIP ?? '' },
    { path: 'status.nominatedNodeName', value: ({ status }) => status?.nominatedNodeName ?? '' },
  ],
  strategy: {
    generation: true,
    returnsDeleted: true,
    gracePeriod,
    defaults: defaultPod,
    prepareCreate: (pod) => {
      const { spec = {}, metadata } = pod;
      mirrorServiceAccount(spec);
      completeAffinity(spec.affinity, metadata.labels);
      pod.status = { phase: 'Pending', ...gatedCondition(spec), qosClass: qosClass(spec) };
    },
    statusKeeps: [['metadata', 'ownerReferences']],
    prepareStatusUpdate: (pod, old) => {
      const { ownerReferences: _, ...metadata } = pod.metadata;
      const { ownerReferences: owners } = old.metadata;
      pod.metadata = owners === undefined ? metadata : { ...metadata, ownerReferences: owners };
      if (!pod.status?.qosClass && old.status?.qosClass) pod.status = { ...pod.status, qosClass: old.status.qosClass };
    },
    validate: ({ metadata, spec = {} }, { names }) => [
      ...validatePod(metadata, spec, names),
      ...(isNew(metadata) ? validateNewPod(metadata, spec, names) : []),
    ],
    validateUpdate: (pod, old, { names }) => [
      ...validatePodMetaUpdate(pod.metadata, old.metadata, pod.spec ?? {}, names),
      ...validatePodSpecUpdate(pod.spec ?? {}, old.spec ?? {}),
      ...(same(pod.status, old.status) ? [] : validatePodStatusUpdate(pod, old)),
    ],
    warnings: ({ metadata, spec = {} }, old, { names }) => (old === undefined ? warnOfPod(metadata, spec, names) : []),
  },
});

/** A pod that runs nowhere, or no more, needs no time to end. */
function gracePeriod({ spec = {}, status }: PodObject, asked: number | undefined): number {
  if (!spec.nodeName || ['Succeeded', 'Failed'].includes(status?.phase ?? '')) return 0;
  const seconds = asked ?? spec.terminationGracePeriodSeconds ?? 0;
  return seconds < 0 ? 1 : seconds;
}

/** Times that nobody set are shown all the same. */
const noTimes: object = { lastProbeTime: null, lastTransitionTime: null };

/** What a pod that waits at its gates says of itself. */
function gatedCondition({ schedulingGates = [] }: PodSpec): Pick<PodStatus, 'conditions'> {
  if (schedulingGates.length === 0) return {};
  const message = 'Scheduling is blocked due to non-empty scheduling gates';
  return {
    conditions: [{ ...noTimes, type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', message }],
  };
}

const readyCount = ({ status }: PodObject): number => (status?.containerStatuses ?? []).filter((c) => c.ready).length;

/** One word for where a pod stands: why its containers wait or ended, else its phase. */
function podStatus(pod: PodObject): string {
  const { metadata, spec, status } = pod;
  let reason = status?.reason || status?.phase || '';
  const gated = status?.conditions?.find((c) => c.type === 'PodScheduled' && c.reason === 'SchedulingGated');
  if (gated !== undefined) reason = 'SchedulingGated';
  const initializing = initStatus(pod);
  if (initializing !== undefined) reason = initializing;
  else reason = containerReason(pod, reason);
  if (metadata.deletionTimestamp === undefined) return reason;
  return status?.reason === 'NodeLost'
    ? 'Unknown'
    : spec !== undefined && ['Succeeded', 'Failed'].includes(status?.phase ?? '')
      ? reason
      : 'Terminating';
}

/** Undefined once every init container is done. */
function initStatus({ spec, status }: PodObject): string | undefined {
  const total = spec?.initContainers?.length ?? 0;
  const sidecars = new Set((spec?.initContainers ?? []).filter((c) => c.restartPolicy === 'Always').map((c) => c.name));
  for (const [i, container] of (status?.initContainerStatuses ?? []).entries()) {
    const { terminated, waiting } = container.state ?? {};
    if (terminated !== undefined && (terminated.exitCode ?? 0) === 0) continue;
    if (sidecars.has(container.name) && container.started === true) continue;
    if (terminated !== undefined) {
      if (terminated.reason) return `Init:${terminated.reason}`;
      return terminated.signal ? `Init:Signal:${terminated.signal}` : `Init:ExitCode:${terminated.exitCode ?? 0}`;
    }
    if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`;
    return `Init:${i}/${total}`;
  }
  return undefined;
}

function containerReason({ status }: PodObject, phase: string): string {
  let reason = phase;
  let running = false;
  for (const container of [...(status?.containerStatuses ?? [])].reverse()) {
    const { waiting, terminated } = container.state ?? {};
    if (waiting?.reason) reason = waiting.reason;
    else if (terminated?.reason) reason = terminated.reason;
    else if (terminated !== undefined) {
      reason = terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode ?? 0}`;
    } else if (container.ready === true && container.state?.running !== undefined) running = true;
  }
  if (reason !== 'Completed' || !running) return reason;
  return status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ? 'Running' : 'NotReady';
}

/** How often its containers were started anew, and when the last one was. */
function restarts({ status }: PodObject): string | Since {
  const containers = status?.containerStatuses ?? [];
  const count = containers.reduce((sum, c) => sum + (c.restartCount ?? 0), 0);
  const last = containers
    .map((c) => c.lastState?.terminated?.finishedAt ?? '')
    .sort()
    .at(-1);
  return count > 0 && last !== undefined && last !== '' ? new Since(last, `${count} (`, ' ago)') : String(count);
}

function readinessGates({ spec, status }: PodObject): string {
  const gates = spec?.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const open = gates.filter(({ conditionType }) =>
    status?.conditions?.some((c) => c.type === conditionType && c.status === 'True'),
  );
  return `${open.length}/${gates.length}`;
}
