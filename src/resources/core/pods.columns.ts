/** The cells of pods in tables. */
import { AgeCell } from '../../registry/index.ts';
import { isSidecar } from '../../rules/index.ts';
import type { ContainerStatus, Pod } from '../../types/core-v1.ts';
import type { PodObject } from './pod-object.ts';

type Parts = Pick<Pod, 'spec' | 'status'>;

const sidecarsOf = ({ spec }: Parts): ReadonlySet<string | undefined> =>
  new Set((spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name));

/** The init container that is waiting, running or failed, with its index; undefined when all have completed. */
function pendingInit(pod: Parts): readonly [index: number, container: ContainerStatus] | undefined {
  const sidecars = sidecarsOf(pod);
  const statuses = pod.status?.initContainerStatuses ?? [];
  const index = statuses.findIndex(({ name, started, state }) => {
    const { terminated } = state ?? {};
    if (terminated !== undefined && (terminated.exitCode ?? 0) === 0) return false;
    return !(sidecars.has(name) && started === true);
  });
  const container = statuses[index];
  return container === undefined ? undefined : [index, container];
}

/** Whether the columns show the containers: all init containers have completed, or the pod was initialized before. */
const isInitialized = (pod: Parts): boolean =>
  pendingInit(pod) === undefined ||
  pod.status?.conditions?.find(({ type }) => type === 'Initialized')?.status === 'True';

const isRunning = ({ ready, state }: ContainerStatus): boolean =>
  ready === true && state?.running !== undefined && !state.waiting?.reason && state.terminated === undefined;

/** `ready/total` of the containers and sidecars. */
export function readyCount(pod: Parts): string {
  const { spec, status } = pod;
  const sidecars = sidecarsOf(pod);
  const reached = (status?.initContainerStatuses ?? []).slice(0, pendingInit(pod)?.[0]);
  const started = reached.filter(
    ({ name, ready, started, state }) => sidecars.has(name) && started === true && ready === true && !state?.terminated,
  );
  const running = isInitialized(pod) ? (status?.containerStatuses ?? []).filter(isRunning) : [];
  return `${started.length + running.length}/${(spec?.containers?.length ?? 0) + sidecars.size}`;
}

/** The Status column: the reason why a container waits or terminated, else the phase. */
export function podStatus(pod: PodObject): string {
  const { metadata, spec, status } = pod;
  const gated = status?.conditions?.some((c) => c.type === 'PodScheduled' && c.reason === 'SchedulingGated');
  let reason = gated ? 'SchedulingGated' : status?.reason || status?.phase || '';
  const pending = pendingInit(pod);
  if (pending !== undefined) reason = initReason(...pending, spec?.initContainers?.length ?? 0);
  if (isInitialized(pod)) reason = containerReason(pod, reason);
  if (metadata.deletionTimestamp === undefined) return reason;
  if (status?.reason === 'NodeLost') return 'Unknown';
  return ['Succeeded', 'Failed'].includes(status?.phase ?? '') ? reason : 'Terminating';
}

function initReason(index: number, { state }: ContainerStatus, total: number): string {
  const { terminated, waiting } = state ?? {};
  if (terminated !== undefined) return `Init:${terminationReason(terminated)}`;
  if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`;
  return `Init:${index}/${total}`;
}

const terminationReason = ({
  reason,
  signal,
  exitCode = 0,
}: {
  reason?: string;
  signal?: number;
  exitCode?: number;
}): string => reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);

function containerReason({ status }: Parts, phase: string): string {
  const statuses = status?.containerStatuses ?? [];
  let reason = phase;
  for (const { state } of [...statuses].reverse()) {
    if (state?.waiting?.reason) reason = state.waiting.reason;
    else if (state?.terminated !== undefined) reason = terminationReason(state.terminated);
  }
  if (reason !== 'Completed' || !statuses.some(isRunning)) return reason;
  return status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ? 'Running' : 'NotReady';
}

/**
 * The Restarts column: the number of restarts and the age of the last one; of the init containers while the pod
 * initializes.
 */
export function restarts(pod: Parts): string | AgeCell {
  const { initContainerStatuses: initial = [], containerStatuses: regular = [] } = pod.status ?? {};
  const sidecars = sidecarsOf(pod);
  const pending = pendingInit(pod);
  const counted = isInitialized(pod)
    ? [...initial.slice(0, pending && pending[0] + 1).filter(({ name }) => sidecars.has(name)), ...regular]
    : initial.slice(0, pending && pending[0] + 1);
  const count = counted.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
  const last = counted
    .map(({ lastState }) => lastState?.terminated?.finishedAt ?? '')
    .sort()
    .at(-1);
  return count > 0 && last ? new AgeCell(last, `${count} (`, ' ago)') : String(count);
}

export function readinessGates({ spec, status }: Parts): string {
  const gates = spec?.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  // The first of several conditions of a type counts.
  const states = new Map(
    [...(status?.conditions ?? [])].reverse().map((condition) => [condition.type, condition.status]),
  );
  const open = gates.filter(({ conditionType }) => states.get(conditionType) === 'True');
  return `${open.length}/${gates.length}`;
}
