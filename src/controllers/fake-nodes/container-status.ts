/** The statuses of containers, and how time changes them. */
import { createHash } from 'node:crypto';
import { formatTime, parseTime } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { Container, ContainerStatus } from '../../types/core-v1.ts';
import { type Behaviour, runOf } from './behaviour.ts';
import type { PodObject } from './objects.ts';

type Status = Infer<typeof ContainerStatus>;
/** The fields of all containers, init containers and ephemeral ones included. */
type Declared = Pick<Container, 'name' | 'image' | 'resources' | 'restartPolicy' | 'readinessProbe' | 'startupProbe'>;

export interface PodEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly fieldPath?: string;
}

/** One look at a pod: what has become due, what happens, and when to look again. */
export class Turn {
  readonly pod: PodObject;
  readonly now: number;
  readonly behaviour: Behaviour;
  readonly events: PodEvent[] = [];
  /** Milliseconds until something becomes due; infinite without. */
  wakeMs = Number.POSITIVE_INFINITY;

  constructor(pod: PodObject, now: number, behaviour: Behaviour) {
    this.pod = pod;
    this.now = now;
    this.behaviour = behaviour;
  }

  /** Whether the time has come; if not, the step is repeated then. */
  isDue(time: number): boolean {
    if (time <= this.now) return true;
    this.wakeMs = Math.min(this.wakeMs, time - this.now);
    return false;
  }

  get restartPolicy(): string {
    return this.pod.spec?.restartPolicy ?? 'Always';
  }
}

/** The list of a pod's containers in its spec. */
export type ContainerList = 'initContainers' | 'containers' | 'ephemeralContainers';

/** Delays of restarts (ms): the first restart comes at once, the second after this, doubled each time up to the last. */
const firstBackoffMs = 10_000;
const lastBackoffMs = 300_000;
/** A container that has run this long is restarted at once (ms). */
const stableMs = 600_000;

/** Exit codes of containers that end when asked to, and of those that are killed. */
export const terminatedCode = 143;
export const killedCode = 137;

const timeOf = (text: string | null | undefined): number => (text ? parseTime(text) : 0);

export const waitingStatus = ({ name = '', image = '' }: Declared, reason: string): Status => ({
  name,
  state: { waiting: { reason } },
  lastState: {},
  ready: false,
  restartCount: 0,
  image,
  imageID: '',
  started: false,
});

/** The container runs from now on; as one that was started before, with a restart more. */
export function started(turn: Turn, list: ContainerList, container: Declared, before: Status): Status {
  const { name = '', image = '', resources } = container;
  const { metadata } = turn.pod;
  const last = before.state?.terminated ?? before.lastState?.terminated;
  const restartCount = last === undefined ? 0 : (before.restartCount ?? 0) + 1;
  const fieldPath = `spec.${list}{${name}}`;
  for (const [reason, message] of [
    ['Pulled', `Container image ${JSON.stringify(image)} already present on machine and can be accessed by the pod`],
    ['Created', 'Container created'],
    ['Started', 'Container started'],
  ] as const) {
    turn.events.push({ type: 'Normal', reason, message, fieldPath });
  }
  return {
    name,
    state: { running: { startedAt: formatTime(turn.now) } },
    lastState: last === undefined ? {} : { terminated: last },
    ready: false,
    restartCount,
    image,
    imageID: `${image.replace(/(?:@.*|:[^/:]*)$/s, '')}@sha256:${digest(image)}`,
    containerID: `containerd://${digest(`${metadata.uid} ${list} ${name} ${restartCount}`)}`,
    started: true,
    ...(resources?.requests === undefined ? {} : { allocatedResources: resources.requests }),
    ...(resources === undefined ? {} : { resources }),
  };
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The container has ended now; one that has not started stays as it is. */
export function ended(turn: Turn, before: Status, exitCode: number, ready = false): Status {
  const { state, containerID } = before;
  if (state?.running === undefined) return before;
  return {
    ...before,
    state: {
      terminated: {
        exitCode,
        reason: exitCode === 0 ? 'Completed' : 'Error',
        startedAt: state.running.startedAt ?? formatTime(turn.now),
        finishedAt: formatTime(turn.now),
        ...(containerID === undefined ? {} : { containerID }),
      },
    },
    ready,
    started: false,
  };
}

/** Whether the container is started again after it has ended with this code. */
export function restarts(turn: Turn, { restartPolicy = turn.restartPolicy }: Declared, exitCode: number): boolean {
  return restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && exitCode !== 0);
}

/** The status of an init container, whose turn it is. */
export function advanceInit(turn: Turn, container: Declared, before: Status): Status {
  const { running, terminated } = before.state ?? {};
  const isSidecar = container.restartPolicy === 'Always';
  if (running !== undefined) {
    if (isSidecar) return before.ready ? before : { ...before, ready: true };
    const end = timeOf(running.startedAt) + turn.behaviour.initTime;
    return turn.isDue(end) ? ended(turn, before, 0, true) : before;
  }
  return terminated === undefined || isSidecar ? started(turn, 'initContainers', container, before) : before;
}

/** The status of a container of an initialized pod. */
export function advance(turn: Turn, container: Declared, before: Status): Status {
  const { running, terminated } = before.state ?? {};
  if (running !== undefined) return advanceRunning(turn, container, before, timeOf(running.startedAt));
  const last = terminated ?? before.lastState?.terminated;
  if (last === undefined) return started(turn, 'containers', container, before);
  if (!restarts(turn, container, last.exitCode ?? 0)) return before;
  const backoff = backoffOf(before.restartCount ?? 0, timeOf(last.finishedAt) - timeOf(last.startedAt));
  if (turn.isDue(timeOf(last.finishedAt) + backoff)) return started(turn, 'containers', container, before);
  return terminated === undefined ? before : backingOff(turn, before, backoff);
}

function advanceRunning(turn: Turn, container: Declared, before: Status, since: number): Status {
  const { behaviour, restartPolicy } = turn;
  const { readinessProbe, startupProbe } = container;
  const run = runOf(behaviour, container.restartPolicy ?? restartPolicy, before.restartCount ?? 0);
  if (turn.isDue(since + run.ms)) return ended(turn, before, run.exitCode);
  const probeSeconds = (startupProbe?.initialDelaySeconds ?? 0) + (readinessProbe?.initialDelaySeconds ?? 0);
  // A run that will fail is never ready.
  const ready = run.exitCode === 0 && turn.isDue(since + (behaviour.readyDelay ?? probeSeconds * 1000));
  return before.ready === ready ? before : { ...before, ready };
}

const backoffOf = (restartCount: number, ranMs: number): number =>
  restartCount === 0 || ranMs >= stableMs ? 0 : Math.min(firstBackoffMs * 2 ** (restartCount - 1), lastBackoffMs);

function backingOff({ pod, events }: Turn, before: Status, backoff: number): Status {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  const podText = `${name}_${namespace}(${uid})`;
  events.push({
    type: 'Warning',
    reason: 'BackOff',
    fieldPath: `spec.containers{${before.name ?? ''}}`,
    message: `Back-off restarting failed container ${before.name ?? ''} in pod ${podText}`,
  });
  const { terminated } = before.state ?? {};
  const seconds = backoff / 1000;
  const time = seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  const message = `back-off ${time} restarting failed container=${before.name ?? ''} pod=${podText}`;
  return {
    ...before,
    state: { waiting: { reason: 'CrashLoopBackOff', message } },
    lastState: terminated === undefined ? {} : { terminated },
    ready: false,
    started: false,
  };
}
