import { formatTime } from '../../meta/index.ts';
import type { Completion } from '../../registry/index.ts';
import { qosClass } from '../../rules/index.ts';
import { Binding, Pod, type PodSpec, type PodStatus } from '../../types/core-v1.ts';
import { Eviction } from '../../types/policy-v1.ts';
import { completeSelectors } from '../pod-template/affinity.ts';
import { adoptProfiles } from '../pod-template/app-armor.ts';
import { dropVolumes } from '../pod-template/dropped-volumes.ts';
import { defaultPod, mirrorServiceAccount } from '../pod-template/pod-spec.defaults.ts';
import { validateNewPod, validatePod } from '../pod-template/pod-spec.validation.ts';
import { podWarnings } from '../pod-template/pod-spec.warnings.ts';
import { same } from '../pod-template/workloads.validation.ts';
import { evictPod } from '../policy/pod-eviction.ts';
import { age, name, orNone } from '../shared/columns.ts';
import { neverProbed } from '../shared/conditions.ts';
import { resource } from '../shared/define.ts';
import { isNew, podContext } from '../shared/field-rules.ts';
import type { PodObject } from './pod-object.ts';
import { bindPod } from './pods.binding.ts';
import { podStatus, readinessGates, readyCount, restarts } from './pods.columns.ts';
import { podAttach, podExec, podLog, podPortForward } from './pods.connect.ts';
import { keepObservedGenerations, podStatusWarnings, validatePodStatusUpdate } from './pods.status-validation.ts';
import { ephemeralContainers, resources } from './pods.subresources.ts';
import { validatePodMetaUpdate, validatePodSpecUpdate } from './pods.update-validation.ts';
import { proxyPod } from './proxy.ts';

export const pods = resource({
  group: '',
  plural: 'pods',
  kind: 'Pod',
  schema: Pod,
  lifecycle: { introduced: '1.0' },
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
    // The former name of `spec.nodeName`, which old clients select by.
    { path: 'spec.host', value: ({ spec }) => spec?.nodeName ?? '', indexed: true },
    { path: 'spec.restartPolicy', value: ({ spec }) => spec?.restartPolicy ?? '' },
    { path: 'spec.schedulerName', value: ({ spec }) => spec?.schedulerName ?? '' },
    { path: 'spec.serviceAccountName', value: ({ spec }) => spec?.serviceAccountName ?? '' },
    { path: 'spec.hostNetwork', value: ({ spec }) => String(spec?.hostNetwork ?? false) },
    { path: 'status.phase', value: ({ status }) => status?.phase ?? '' },
    { path: 'status.podIP', value: ({ status }) => status?.podIPs?.[0]?.ip ?? status?.podIP ?? '' },
    // A supported field selector that is always empty.
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
      dropVolumes(spec);
      mirrorServiceAccount(spec);
      completeSelectors(spec, metadata.labels);
      adoptProfiles(spec, metadata.annotations ?? {}, context);
      pod.status = { phase: 'Pending', ...gatedCondition(spec, context.now), qosClass: qosClass(spec) };
    },
    prepareUpdate: ({ spec }) => dropVolumes(spec),
    prepareStatusUpdate: (pod, old) => {
      if (!pod.status?.qosClass && old.status?.qosClass) pod.status = { ...pod.status, qosClass: old.status.qosClass };
      keepObservedGenerations(pod.status ?? {}, old.status ?? {});
    },
    validate: ({ metadata, spec = {} }, context) => [
      ...validatePod(metadata, spec, podContext({ metadata }, context)),
      ...(isNew({ metadata }) ? validateNewPod(metadata, spec, context.names) : []),
    ],
    validateUpdate: (pod, old, { names }) => [
      ...validatePodMetaUpdate(pod.metadata, old.metadata, pod.spec ?? {}, names),
      ...validatePodSpecUpdate(pod.spec ?? {}, old.spec ?? {}),
      ...(same(pod.status, old.status) ? [] : validatePodStatusUpdate(pod, old)),
    ],
    warnings: ({ metadata, spec = {} }, old, { names }) =>
      old === undefined ? podWarnings(metadata, spec, names) : [],
    statusWarnings: ({ status = {} }, { names }) => podStatusWarnings(status, names),
  },
});

const completions: ReadonlyMap<string, Completion> = new Map([
  ['Succeeded', { reason: 'Succeeded', message: 'The pod has completed successfully.' }],
  ['Failed', { reason: 'Failed', message: 'The pod failed.' }],
]);

/** A pod without a node, or in a terminal phase, has a grace period of 0. */
function gracePeriod({ spec = {}, status }: PodObject, requestedSeconds: number | undefined): number {
  if (!spec.nodeName || ['Succeeded', 'Failed'].includes(status?.phase ?? '')) return 0;
  const seconds = requestedSeconds ?? spec.terminationGracePeriodSeconds ?? 0;
  return seconds < 0 ? 1 : seconds;
}

/** The `PodScheduled` condition of a pod with scheduling gates. */
function gatedCondition({ schedulingGates = [] }: PodSpec, now: number): Pick<PodStatus, 'conditions'> {
  if (schedulingGates.length === 0) return {};
  const message = 'Scheduling is blocked due to non-empty scheduling gates';
  const lastTransitionTime = formatTime(now);
  return {
    conditions: [
      { ...neverProbed, lastTransitionTime, type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', message },
    ],
  };
}
