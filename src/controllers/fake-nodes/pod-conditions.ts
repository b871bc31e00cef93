/** The conditions of a pod that a kubelet keeps. */
import { formatTime } from '../../meta/index.ts';
import { isSidecar } from '../../rules/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { PodCondition } from '../../types/core-v1.ts';
import type { ContainerStatuses, PodObject } from './objects.ts';

type Condition = Infer<typeof PodCondition>;
type State = Pick<Condition, 'status' | 'reason' | 'message'>;

export interface Observed {
  readonly phase: string;
  /** The network of the pod is set up. */
  readonly hasSandbox: boolean;
  readonly inits: ContainerStatuses;
  readonly containers: ContainerStatuses;
}

const ownTypes = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];

/** The unset time is written as null. */
const neverProbed: object = { lastProbeTime: null };

const yes: State = { status: 'True' };

/** The conditions of others, then those of the kubelet. What says the same as before keeps its times. */
export function podConditions(pod: PodObject, observed: Observed, now: number): Condition[] {
  const { status = {} } = pod;
  const old = status.conditions ?? [];
  const others = old.filter(({ type }) => !ownTypes.includes(type ?? ''));
  const containersReady = containersReadyOf(pod, observed);
  const states: readonly (readonly [string, State])[] = [
    ['PodReadyToStartContainers', { status: observed.hasSandbox ? 'True' : 'False' }],
    ['Initialized', initializedOf(pod, observed)],
    ['Ready', containersReady.status === 'True' ? gatesOf(pod, others) : containersReady],
    ['ContainersReady', containersReady],
    ['PodScheduled', yes],
  ];
  const own = states.map(([type, state]): Condition => {
    const before = old.find((one) => one.type === type);
    const since = before?.status === state.status ? before?.lastTransitionTime : undefined;
    return {
      type,
      ...state,
      ...neverProbed,
      lastTransitionTime: since ?? formatTime(now),
    };
  });
  return [...others, ...own];
}

/** Names as the reference prints a list of them. */
const listed = (names: readonly string[]): string => `[${names.join(' ')}]`;

const unready = (reason: string, parts: readonly (readonly [string, readonly string[]])[]): State | undefined => {
  const texts = parts.filter(([, names]) => names.length > 0).map(([text, names]) => `${text}: ${listed(names)}`);
  return texts.length === 0 ? undefined : { status: 'False', reason, message: texts.join(', ') };
};

function containersReadyOf({ spec = {} }: PodObject, { phase, inits, containers }: Observed): State {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const sidecars = (spec.initContainers ?? []).filter(isSidecar);
  const statuses = new Map([...inits, ...containers].map((status) => [status.name, status]));
  const names = [...sidecars, ...(spec.containers ?? [])].map(({ name = '' }) => name);
  const waiting = names.filter((name) => statuses.get(name)?.ready !== true);
  return unready('ContainersNotReady', [['containers with unready status', waiting]]) ?? yes;
}

function initializedOf({ spec = {} }: PodObject, { phase, inits, containers }: Observed): State {
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' };
  const hasStarted = ({ state, lastState }: ContainerStatuses[number]) =>
    state?.running !== undefined || state?.terminated !== undefined || lastState?.terminated !== undefined;
  if (containers.some(hasStarted)) return yes;
  const incomplete = (spec.initContainers ?? []).filter((container) => {
    const status = inits.find(({ name }) => name === container.name);
    return (isSidecar(container) ? status?.started : status?.ready) !== true;
  });
  const names = incomplete.map(({ name = '' }) => name);
  return unready('ContainersNotInitialized', [['containers with incomplete status', names]]) ?? yes;
}

/** Ready, unless a condition named by a readiness gate is not true. */
function gatesOf({ spec = {} }: PodObject, conditions: readonly Condition[]): State {
  const messages = (spec.readinessGates ?? []).flatMap(({ conditionType = '' }) => {
    const condition = conditions.find(({ type }) => type === conditionType);
    const name = JSON.stringify(conditionType);
    if (condition === undefined) return [`corresponding condition of pod readiness gate ${name} does not exist.`];
    if (condition.status === 'True') return [];
    return [`the status of pod readiness gate ${name} is not "True", but ${condition.status ?? ''}`];
  });
  return messages.length === 0
    ? yes
    : { status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') };
}
