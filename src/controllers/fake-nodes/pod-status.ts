/** The life of a pod on a fake node: its next status, from the one it has and the time. */
import { formatTime, type Json, jsonEqual, parseTime } from '../../meta/index.ts';
import { isSidecar } from '../../rules/index.ts';
import type { Container } from '../../types/core-v1.ts';
import type { Behaviour } from './behaviour.ts';
import {
  advance,
  advanceInit,
  ended,
  killedCode,
  type PodEvent,
  restarts,
  started,
  Turn,
  terminatedCode,
  waitingStatus,
} from './container-status.ts';
import { type ContainerStatuses, isTerminal, type PodObject, type PodSpec, type PodStatus } from './objects.ts';
import { podConditions } from './pod-conditions.ts';

/** The addresses of a pod on its node. */
export interface PodNetwork {
  readonly hostIP: string;
  /** An address that no other pod has. */
  readonly allocate: () => string;
}

interface Statuses {
  readonly inits: ContainerStatuses;
  readonly containers: ContainerStatuses;
  readonly ephemeral: ContainerStatuses;
}

/** The status of a pod, the events on the way to it, and the time of its next change. */
export interface Progress {
  readonly status: PodStatus;
  readonly events: readonly PodEvent[];
  /** Milliseconds until something becomes due; infinite without. */
  readonly wakeMs: number;
}

/** Changes that follow each other without delay and are written together, at most. */
const maxSteps = 32;

/** The status of a pod that has not ended, when all has happened that is due. */
export function progressOf(pod: PodObject, now: number, behaviour: Behaviour, network: PodNetwork): Progress {
  const events: PodEvent[] = [];
  let { status = {} } = pod;
  let wakeMs = Number.POSITIVE_INFINITY;
  for (let step = 0; step < maxSteps; step++) {
    const turn = new Turn({ ...pod, status }, now, behaviour);
    const next = nextStatus(turn, network);
    for (const event of turn.events) events.push(event);
    wakeMs = turn.wakeMs;
    const isLast = jsonEqual(status as Json, next as Json);
    status = next;
    if (isLast || isTerminal({ ...pod, status })) break;
  }
  return { status, events, wakeMs };
}

function nextStatus(turn: Turn, network: PodNetwork): PodStatus {
  const { pod } = turn;
  const { spec = {}, status = {}, metadata } = pod;
  if (metadata.deletionTimestamp !== undefined) return terminating(turn, network);
  const before = statusesOf(spec, status);
  if (!status.startTime) return withStatuses(turn, network, before, false);
  const hadSandbox = hasSandbox(status);
  if (!hadSandbox && !turn.isDue(parseTime(status.startTime) + turn.behaviour.startDelay)) {
    return withStatuses(turn, network, before, false);
  }
  return withStatuses(turn, network, advanceAll(turn, spec, before), true);
}

/** The pod is being deleted: its containers may run until the end of the grace period. */
function terminating(turn: Turn, network: PodNetwork): PodStatus {
  const { spec = {}, status = {}, metadata } = turn.pod;
  const deadline = parseTime(metadata.deletionTimestamp ?? '');
  const graceMs = (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  const sleepOf = ({ lifecycle }: Container) => lifecycle?.preStop?.sleep?.seconds ?? 0;
  const sleep = (spec.containers ?? []).reduce((most, container) => Math.max(most, sleepOf(container)), 0);
  const needed = sleep * 1000 + turn.behaviour.terminationDelay;
  const before = statusesOf(spec, status);
  const runs = [...before.inits, ...before.containers].some(({ state }) => state?.running !== undefined);
  if (runs && !turn.isDue(deadline - graceMs + Math.min(needed, graceMs))) {
    return withStatuses(turn, network, before, hasSandbox(status));
  }
  const code = needed > graceMs ? killedCode : terminatedCode;
  const end = (list: ContainerStatuses) => list.map((one) => ended(turn, one, code));
  const last = { inits: end(before.inits), containers: end(before.containers), ephemeral: end(before.ephemeral) };
  const succeeded = last.containers.every(({ state }) => state?.terminated?.exitCode === 0);
  return withStatuses(turn, network, last, false, succeeded ? 'Succeeded' : 'Failed');
}

const hasSandbox = ({ conditions = [] }: PodStatus): boolean =>
  conditions.some(({ type, status }) => type === 'PodReadyToStartContainers' && status === 'True');

function statusesOf(spec: PodSpec, status: PodStatus): Statuses {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec;
  const reason = initContainers.length > 0 ? 'PodInitializing' : 'ContainerCreating';
  const listOf = (declared: typeof containers, statuses: ContainerStatuses = []) =>
    declared.map((one) => statuses.find(({ name }) => name === one.name) ?? waitingStatus(one, reason));
  return {
    inits: listOf(initContainers, status.initContainerStatuses),
    containers: listOf(containers, status.containerStatuses),
    ephemeral: listOf(ephemeralContainers, status.ephemeralContainerStatuses),
  };
}

function advanceAll(turn: Turn, spec: PodSpec, before: Statuses): Statuses {
  const { initContainers = [], containers: declared = [], ephemeralContainers = [] } = spec;
  let initialized = true;
  const inits = before.inits.map((status, i) => {
    const container = initContainers[i];
    if (!initialized || container === undefined) return status;
    const next = advanceInit(turn, container, status);
    initialized = isSidecar(container) ? next.state?.running !== undefined : next.state?.terminated !== undefined;
    return next;
  });
  if (!initialized) return { ...before, inits };
  const containers = before.containers.map((status, i) => {
    const container = declared[i];
    return container === undefined ? status : advance(turn, container, status);
  });
  const ephemeral = before.ephemeral.map((status, i) => {
    const container = ephemeralContainers[i];
    const isNew = container !== undefined && status.state?.waiting !== undefined;
    return isNew ? started(turn, 'ephemeralContainers', container, status) : status;
  });
  return { inits, containers, ephemeral };
}

/** Whether no container of a pod runs or will be started again. */
const hasEnded = (turn: Turn, spec: PodSpec, containers: ContainerStatuses): boolean =>
  (spec.containers ?? []).every((container, i) => {
    const { terminated } = containers[i]?.state ?? {};
    return terminated !== undefined && !restarts(turn, container, terminated.exitCode ?? 0);
  });

/** The status of the pod with these statuses of its containers. Without a phase it follows from them. */
function withStatuses(
  turn: Turn,
  network: PodNetwork,
  { inits: given, containers, ephemeral }: Statuses,
  sandbox: boolean,
  phase?: 'Succeeded' | 'Failed',
): PodStatus {
  const { pod, now } = turn;
  const { spec = {}, status = {} } = pod;
  const reached = phase ?? phaseOf(turn, spec, given, containers);
  const isOver = reached === 'Succeeded' || reached === 'Failed';
  // Sidecars end with the main containers.
  const inits = isOver ? given.map((one) => ended(turn, one, 0)) : given;
  const observed = { phase: reached, hasSandbox: sandbox && !isOver, inits, containers };
  const { hostIP } = network;
  const podIP = status.podIP || (spec.hostNetwork === true ? hostIP : sandbox ? network.allocate() : '');
  return {
    ...status,
    phase: reached,
    conditions: podConditions(pod, observed, now),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(podIP === '' ? {} : { podIP, podIPs: [{ ip: podIP }] }),
    startTime: status.startTime || formatTime(now),
    ...(inits.length === 0 ? {} : { initContainerStatuses: [...inits] }),
    containerStatuses: [...containers],
    ...(ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: [...ephemeral] }),
  };
}

function phaseOf(turn: Turn, spec: PodSpec, inits: ContainerStatuses, containers: ContainerStatuses): string {
  if (isTerminal(turn.pod)) return turn.pod.status?.phase ?? '';
  if (hasEnded(turn, spec, containers)) {
    return containers.every(({ state }) => state?.terminated?.exitCode === 0) ? 'Succeeded' : 'Failed';
  }
  const isPending = ({ state, lastState }: ContainerStatuses[number]) =>
    state?.waiting !== undefined && lastState?.terminated === undefined;
  return inits.some(isPending) || containers.some(isPending) ? 'Pending' : 'Running';
}
