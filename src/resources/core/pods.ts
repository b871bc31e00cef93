import type { Completion } from '../../registry/index.ts';
import { age, name, orNone } from '../cells.ts';
import { resource } from '../define.ts';
import { evictPod } from '../policy/eviction.ts';
import { Binding, Pod, type PodSpec, type PodStatus } from '../types/core-v1.ts';
import { Eviction } from '../types/policy-v1.ts';
import { proxyPod } from './connect.ts';
import { bindPod } from './pod-binding.ts';
import { podStatus, readinessGates, readyCount, restarts } from './pod-cells.ts';
import { podAttach, podExec, podLog, podPortForward } from './pod-connect.ts';
import type { PodObject } from './pod-object.ts';
import { completeSelectors } from './pod-spec/affinity.ts';
import { adoptProfiles } from './pod-spec/app-armor.ts';
import { isNew, same } from './pod-spec/controller.ts';
import { defaultPod, mirrorServiceAccount } from './pod-spec/defaults.ts';
import { keepGenerations, validatePodStatusUpdate, warnOfStatus } from './pod-spec/pod-status.ts';
import { validatePodMetaUpdate, validatePodSpecUpdate } from './pod-spec/pod-update.ts';
import { qosClass } from './pod-spec/qos.ts';
import { validateNewPod, validatePod } from './pod-spec/validate.ts';
import { warnOfPod } from './pod-spec/warnings.ts';
import { ephemeralContainers, resources } from './pod-subresources.ts';

export const pods = resource({
  group: '',
  plural: 'pods',
  kind: 'Pod',
  schema: Pod,
  shortNames: ['po'],
  categories: ['all'],
  status: { resetFields: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']] },
  subresources: [
    { name: 'attach', type: 'connect', verbs: ['create', 'get'], kind: 'PodAttachOptions', connect: podAttach },
    { name: 'binding', type: 'create', verbs: ['create'], kind: 'Binding', schema: Binding, onCreate: bindPod },
    {
      name: 'ephemeralcontainers',
      type: 'partialUpdate',
      metadataChecks: [1, 1],
      verbs: ['get', 'patch', 'update'],
      kind: 'Pod',
      partialUpdate: ephemeralContainers,
      writableFields: [['spec', 'ephemeralContainers']],
    },
    {
      name: 'eviction',
      type: 'create',
      verbs: ['create'],
      kind: 'Eviction',
      group: 'policy',
      version: 'v1',
      formerVersions: ['v1beta1'],
      schema: Eviction,
      onCreate: evictPod,
    },
    { name: 'exec', type: 'connect', verbs: ['create', 'get'], kind: 'PodExecOptions', connect: podExec },
    { name: 'log', type: 'connect', verbs: ['get'], kind: 'Pod', connect: podLog },
    {
      name: 'portforward',
      type: 'connect',
      verbs: ['create', 'get'],
      kind: 'PodPortForwardOptions',
      connect: podPortForward,
    },
    {
      name: 'proxy',
      type: 'connect',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
      kind: 'PodProxyOptions',
      connect: proxyPod,
    },
    {
      name: 'resize',
      type: 'partialUpdate',
      metadataChecks: [1, 1],
      verbs: ['get', 'patch', 'update'],
      kind: 'Pod',
      partialUpdate: resources,
      gate: 'InPlacePodVerticalScaling',
      writableFields: ['containers', 'initContainers'].flatMap((list) => [
        ['spec', list, '*', 'resources'],
        ['spec', list, '*', 'resizePolicy'],
      ]),
    },
  ],
  columns: [
    name,
    ['Ready', readyCount],
    ['Status', podStatus],
    ['Restarts', restarts],
    age,
    ['IP', ({ status }) => orNone(status?.podIPs?.[0]?.ip ?? status?.podIP), 'wide'],
    ['Node', ({ spec }) => orNone(spec?.nodeName), 'wide'],
    ['Nominated Node', ({ status }) => orNone(status?.nominatedNodeName), 'wide'],
    ['Readiness Gates', readinessGates, 'wide'],
  ],
  completion: ({ status }) => completions.get(status?.phase ?? ''),
  selectableFields: [
    { path: 'spec.nodeName', value: ({ spec }) => spec?.nodeName ?? '', indexed: true },
    // The first name of that field; old clients still ask by it.
    { path: 'spec.host', value: ({ spec }) => spec?.nodeName ?? '', indexed: true },
    { path: 'spec.restartPolicy', value: ({ spec }) => spec?.restartPolicy ?? '' },
    { path: 'spec.schedulerName', value: ({ spec }) => spec?.schedulerName ?? '' },
    { path: 'spec.serviceAccountName', value: ({ spec }) => spec?.serviceAccountName ?? '' },
    { path: 'spec.hostNetwork', value: ({ spec }) => String(spec?.hostNetwork ?? false) },
    { path: 'status.phase', value: ({ status }) => status?.phase ?? '' },
    { path: 'status.podIP', value: ({ status }) => status?.podIPs?.[0]?.ip ?? status?.podIP ?? '' },
    // Can be asked for, but is never anything.
    { path: 'status.podIPs', value: () => '' },
    { path: 'status.nominatedNodeName', value: ({ status }) => status?.nominatedNodeName ?? '' },
  ],
  strategy: {
    generation: true,
    returnsDeleted: true,
    gracePeriod,
    defaults: defaultPod,
    prepareCreate: (pod, context) => {
      const { spec = {}, metadata } = pod;
      mirrorServiceAccount(spec);
      completeSelectors(spec, metadata.labels);
      adoptProfiles(spec, metadata.annotations ?? {}, context);
      pod.status = { phase: 'Pending', ...gatedCondition(spec), qosClass: qosClass(spec) };
    },
    prepareStatusUpdate: (pod, old) => {
      if (!pod.status?.qosClass && old.status?.qosClass) pod.status = { ...pod.status, qosClass: old.status.qosClass };
      keepGenerations(pod.status ?? {}, old.status ?? {});
    },
    validate: ({ metadata, spec = {} }, context) => [
      ...validatePod(metadata, spec, context),
      ...(isNew(metadata) ? validateNewPod(metadata, spec, context.names) : []),
    ],
    validateUpdate: (pod, old, { names }) => [
      ...validatePodMetaUpdate(pod.metadata, old.metadata, pod.spec ?? {}, names),
      ...validatePodSpecUpdate(pod.spec ?? {}, old.spec ?? {}),
      ...(same(pod.status, old.status) ? [] : validatePodStatusUpdate(pod, old)),
    ],
    warnings: ({ metadata, spec = {} }, old, { names }) => (old === undefined ? warnOfPod(metadata, spec, names) : []),
    statusWarnings: ({ status = {} }, { names }) => warnOfStatus(status, names),
  },
});

const completions: ReadonlyMap<string, Completion> = new Map([
  ['Succeeded', { reason: 'Succeeded', message: 'The pod has completed successfully.' }],
  ['Failed', { reason: 'Failed', message: 'The pod failed.' }],
]);

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
