import { parseTime } from '../../meta/index.ts';
import { isReady, type Pod, podCondition } from '../shared/pods.ts';
import { maxReplicas } from './model.ts';
import { milliOf, type Sample, type Samples } from './samples.ts';

/** How far usage may be from its target without a change of replicas. */
export interface Tolerance {
  readonly up: number;
  readonly down: number;
}

/** The inputs of the calculation of replicas. */
export interface Basis {
  /** That the scale asks for. */
  readonly replicas: number;
  /** That the scale says there are. */
  readonly current: number;
  /** That the scale selects. */
  readonly pods: readonly Pod[];
  readonly tolerance: Tolerance;
  readonly now: number;
}

export interface Proposal {
  readonly replicas: number;
  /** For each pod, or of the metric as a whole, in thousandths. */
  readonly usage: number;
  /** Percent of what pods request. */
  readonly utilization?: number;
}

/** CPU usage of a pod that began less than this ago counts when the pod is ready (ms). */
const cpuInitializationMs = 300_000;
/** A pod that was last ready less than this after its start has never been ready (ms). */
const readinessDelayMs = 30_000;

const isWithin = ({ up, down }: Tolerance, ratio: number): boolean => 1 - down <= ratio && ratio <= 1 + up;
const rounded = (replicas: number): number => Math.min(Math.ceil(replicas), maxReplicas);

interface Grouped {
  readonly ready: number;
  readonly unready: readonly string[];
  readonly missing: readonly string[];
  /** Of the pods that are ready, or unknown. */
  readonly samples: Samples;
}

/** Groups the pods by what their samples are worth. @throws Error when none is worth anything */
function grouped({ pods, now }: Basis, all: Samples, resource: string): Grouped {
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count');
  const samples = new Map(all);
  const unready: string[] = [];
  const missing: string[] = [];
  let ready = 0;
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata;
    const sample = all.get(name);
    if (deletionTimestamp !== undefined || pod.status?.phase === 'Failed') samples.delete(name);
    else if (pod.status?.phase === 'Pending') {
      unready.push(name);
      samples.delete(name);
    } else if (sample === undefined) missing.push(name);
    else if (resource === 'cpu' && isStartingUp(pod, sample, now)) {
      unready.push(name);
      samples.delete(name);
    } else ready++;
  }
  if (samples.size === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)');
  return { ready, unready, missing, samples };
}

/** The pod uses CPU to start up, not for its work. */
function isStartingUp(pod: Pod, { time, window }: Sample, now: number): boolean {
  const condition = podCondition(pod, 'Ready');
  const { startTime } = pod.status ?? {};
  if (condition === undefined || typeof startTime !== 'string') return true;
  const began = parseTime(startTime);
  const changed = typeof condition.lastTransitionTime === 'string' ? parseTime(condition.lastTransitionTime) : 0;
  const isUnready = condition.status === 'False';
  if (began + cpuInitializationMs > now) return isUnready || time < changed + window;
  return isUnready && began + readinessDelayMs > changed;
}

/**
 * The replicas for an average usage of each pod. Pods that are not ready count as idle where that means fewer replicas;
 * pods without a sample count as idle when scaling up, and as `assumed` when scaling down.
 */
function proposed(
  basis: Basis,
  { ready, unready, missing, samples }: Grouped,
  ratioOf: (samples: Samples) => number,
  assumed: (pod: string) => number,
): number {
  const { replicas, tolerance } = basis;
  const ratio = ratioOf(samples);
  const upWithUnready = unready.length > 0 && ratio > 1;
  if (!upWithUnready && missing.length === 0) return isWithin(tolerance, ratio) ? replicas : rounded(ratio * ready);
  const all = new Map(samples);
  const assume = (pod: string, value: number) => all.set(pod, { value, time: 0, window: 0 });
  if (ratio !== 1) for (const pod of missing) assume(pod, ratio < 1 ? assumed(pod) : 0);
  if (upWithUnready) for (const pod of unready) assume(pod, 0);
  const next = ratioOf(all);
  if (isWithin(tolerance, next) || (ratio < 1 && next > 1) || (ratio > 1 && next < 1)) return replicas;
  const desired = rounded(next * all.size);
  return (next < 1 && desired > replicas) || (next > 1 && desired < replicas) ? replicas : desired;
}

const sumOf = (samples: Samples): number => [...samples.values()].reduce((sum, { value }) => sum + value, 0);
const averageOf = (samples: Samples): number => Math.trunc(sumOf(samples) / samples.size);

/** The replicas for an average usage of each pod (thousandths). @throws Error */
export function byAverage(basis: Basis, samples: Samples, target: number, resource = ''): Proposal {
  const groups = grouped(basis, samples, resource);
  const replicas = proposed(
    basis,
    groups,
    (all) => averageOf(all) / target,
    () => target,
  );
  return { replicas, usage: averageOf(groups.samples) };
}

/** The replicas for a usage in percent of what pods request. @throws Error */
export function byUtilization(
  basis: Basis,
  samples: Samples,
  target: number,
  resource: string,
  container: string | undefined,
): Proposal {
  const groups = grouped(basis, samples, resource);
  const requests = new Map(basis.pods.map((pod) => [pod.metadata.name ?? '', requestOf(pod, resource, container)]));
  const measure = (all: Samples) => {
    const measured = new Map([...all].filter(([pod]) => requests.has(pod)));
    const requested = [...measured.keys()].reduce((sum, pod) => sum + (requests.get(pod) ?? 0), 0);
    if (requested === 0) throw new Error('no metrics returned matched known pods');
    return { utilization: Math.trunc((sumOf(measured) * 100) / requested), usage: averageOf(measured) };
  };
  const assumed = (pod: string) => Math.trunc(((requests.get(pod) ?? 0) * Math.max(100, target)) / 100);
  const replicas = proposed(basis, groups, (all) => measure(all).utilization / target, assumed);
  return { replicas, ...measure(groups.samples) };
}

/** The requests of the containers of the pod, or of one of them (thousandths). @throws Error when one has no request */
function requestOf({ metadata, spec }: Pod, resource: string, container: string | undefined): number {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const counted = [...(spec?.containers ?? []), ...sidecars].filter(
    ({ name }) => container === undefined || name === container,
  );
  if (counted.length === 0 && container !== undefined) {
    throw new Error(`container ${container} not found in Pod ${metadata.name}`);
  }
  let sum = 0;
  for (const { name, resources } of counted) {
    const requests: { readonly [resource: string]: string } = resources?.requests ?? {};
    const request = Object.hasOwn(requests, resource) ? requests[resource] : undefined;
    if (request === undefined) {
      throw new Error(`missing request for ${resource} in container ${name} of Pod ${metadata.name}`);
    }
    sum += milliOf(request);
  }
  return sum;
}

/** The replicas for a value that all pods bring about together. @throws Error */
export function byValue({ replicas, pods, tolerance }: Basis, usage: number, target: number): Proposal {
  const ratio = usage / target;
  if (replicas === 0) return { replicas: rounded(ratio), usage };
  if (isWithin(tolerance, ratio)) return { replicas, usage };
  if (pods.length === 0) {
    throw new Error('unable to calculate ready pods: no pods returned by selector while calculating replica count');
  }
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isReady(pod)).length;
  return { replicas: rounded(ratio * ready), usage };
}

/** The replicas for a value that is shared among the pods. */
export function byShare({ current, tolerance }: Basis, usage: number, target: number): Proposal {
  const replicas = isWithin(tolerance, usage / (target * current)) ? current : rounded(usage / target);
  return { replicas, usage: current === 0 ? 0 : Math.ceil(usage / current) };
}
