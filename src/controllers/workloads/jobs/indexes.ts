import type { Names } from '../../../meta/index.ts';
import type { Container, EnvVar, PodTemplateSpec } from '../../../types/core-v1.ts';
import { isTerminating, type Pod } from '../../shared/pods.ts';
import { type Backoff, backoffLeft, finishedAt } from './backoff.ts';
import { isCounted, verdictOf } from './failure-policy.ts';
import {
  type Intervals,
  includes,
  intervalsOf,
  lowestOutside,
  overlap,
  parseIntervals,
  totalOf,
  union,
} from './intervals.ts';
import {
  hasFinalizer,
  hasLimitPerIndex,
  indexKey,
  indexOf,
  isFailed,
  isSucceeded,
  type Job,
  replacesOnlyEnded,
  validIndexOf,
} from './model.ts';

/** The indexes of an indexed job. */
export interface Indexes {
  /** Those that the status had when the reconcile began. */
  readonly counted: Intervals;
  readonly succeeded: Intervals;
  /** Undefined for a job without a backoff limit per index. */
  readonly failed: Intervals | undefined;
  /** The last failed pod of each index to retry, which keeps its finalizer until it is replaced: it counts the failures. */
  readonly toReplace: ReadonlyMap<number, Pod>;
}

export function indexesOf(names: Names, job: Job, pods: readonly Pod[], active: readonly Pod[]): Indexes {
  const { completions = 0, backoffLimitPerIndex: limit } = job.spec ?? {};
  const { completedIndexes, failedIndexes } = job.status ?? {};
  const uncounted = (holds: (pod: Pod) => boolean) =>
    intervalsOf(
      pods.flatMap((pod) => {
        const index = validIndexOf(pod, job, names);
        return index !== undefined && hasFinalizer(pod, names) && holds(pod) ? [index] : [];
      }),
    );
  const counted = parseIntervals(completedIndexes, completions);
  const succeeded = union(counted, uncounted(isSucceeded));
  if (limit === undefined) return { counted, succeeded, failed: undefined, toReplace: new Map() };
  const failed = union(
    parseIntervals(failedIndexes, completions),
    uncounted((pod) => failsIndex(names, job, pod, limit)),
  );
  const settled = union(union(succeeded, failed), indexesIn(names, active));
  return { counted, succeeded, failed, toReplace: podsToReplace(names, job, pods, settled) };
}

const indexesIn = (names: Names, pods: readonly Pod[]): Intervals =>
  intervalsOf(pods.flatMap((pod) => indexOf(pod, names) ?? []));

function failsIndex(names: Names, job: Job, pod: Pod, limit: number): boolean {
  if (!isFailed(pod, job)) return false;
  const { action } = verdictOf(job.spec?.podFailurePolicy, pod);
  return action === 'FailIndex' || (action !== 'Ignore' && failuresOf(pod, names).counted >= limit);
}

function podsToReplace(names: Names, job: Job, pods: readonly Pod[], settled: Intervals): Map<number, Pod> {
  const podsByIndex = new Map<number, Pod>();
  for (const pod of pods) {
    const index = validIndexOf(pod, job, names);
    if (index === undefined || !hasFinalizer(pod, names) || !isFailed(pod, job) || includes(settled, index)) continue;
    const other = podsByIndex.get(index);
    const isLater =
      other === undefined ||
      (failuresOf(other, names).all <= failuresOf(pod, names).all && finishedAt(other) <= finishedAt(pod));
    if (isLater) podsByIndex.set(index, pod);
  }
  return podsByIndex;
}

/** The failures of the index before the pod was created: those that count towards the limit, and all. */
function failuresOf(pod: Pod, names: Names): { readonly counted: number; readonly all: number } {
  const read = (key: string) => {
    const text = pod.metadata.annotations?.[key] ?? '';
    const value = /^\+?[0-9]+$/.test(text) ? Number(text) : 0;
    return value <= 2 ** 31 - 1 ? value : 0;
  };
  const counted = read(failuresKey(names));
  return { counted, all: counted + read(ignoredFailuresKey(names)) };
}

const failuresKey = ({ labels }: Names): string => `batch.${labels}/job-index-failure-count`;
const ignoredFailuresKey = ({ labels }: Names): string => `batch.${labels}/job-index-ignored-failure-count`;

/** The indexes for which to create pods, at most `count`; if there are none, the time until the next one (ms). */
export function indexesToCreate(
  names: Names,
  job: Job,
  pods: { readonly all: readonly Pod[]; readonly active: readonly Pod[] },
  { succeeded, failed, toReplace }: Indexes,
  count: number,
  now: number,
): { readonly indexes: readonly number[]; readonly wait: number } {
  const terminating = replacesOnlyEnded(job) ? pods.all.filter(isTerminating) : [];
  const usedIndexes = union(union(succeeded, failed ?? []), indexesIn(names, [...pods.active, ...terminating]));
  const pending = lowestOutside(usedIndexes, job.spec?.completions ?? 0, count);
  const waits = pending.map((index) => backoffLeft(backoffOf(names, toReplace.get(index)), now));
  const indexes = pending.filter((_, i) => waits[i] === 0);
  return { indexes, wait: indexes.length > 0 ? 0 : waits.reduce((a, b) => Math.min(a, b), waits[0] ?? 0) };
}

const backoffOf = (names: Names, failed: Pod | undefined): Backoff =>
  failed === undefined
    ? { failures: 0, since: 0 }
    : { failures: failuresOf(failed, names).all + 1, since: finishedAt(failed) };

/** The pod with this completion index. */
export function withIndex(names: Names, job: Job, pod: Pod, index: number, replaced: Pod | undefined): Pod {
  const key = indexKey(names);
  const name = job.metadata.name ?? '';
  const suffix = `-${index}-`;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      generateName: `${name.slice(0, maxPrefix - suffix.length)}${suffix}`,
      labels: { ...pod.metadata.labels, [key]: `${index}` },
      annotations: {
        ...pod.metadata.annotations,
        [key]: `${index}`,
        ...(hasLimitPerIndex(job) ? failureCounts(names, job, replaced) : {}),
      },
    },
    spec: { ...pod.spec, hostname: `${name}-${index}` },
  };
}

/** The longest beginning of a generated name. */
const maxPrefix = 58;

function failureCounts(names: Names, { spec }: Job, replaced: Pod | undefined): { [key: string]: string } {
  if (replaced === undefined) return { [failuresKey(names)]: '0' };
  const before = failuresOf(replaced, names);
  const counts = isCounted(spec?.podFailurePolicy, replaced);
  const ignored = before.all - before.counted + (counts ? 0 : 1);
  return {
    [failuresKey(names)]: `${before.counted + (counts ? 1 : 0)}`,
    ...(ignored > 0 ? { [ignoredFailuresKey(names)]: `${ignored}` } : {}),
  };
}

/** The template with a variable in each container that holds the completion index of the pod. */
export function withIndexVariable(names: Names, template: PodTemplateSpec): PodTemplateSpec {
  const { initContainers, containers, ...spec } = template.spec ?? {};
  const variable: EnvVar = {
    name: indexVariable,
    valueFrom: { fieldRef: { fieldPath: `metadata.labels['${indexKey(names)}']` } },
  };
  const extended = (container: Container): Container => {
    const { env = [] } = container;
    return env.some(({ name }) => name === indexVariable) ? container : { ...container, env: [...env, variable] };
  };
  return {
    ...template,
    spec: {
      ...spec,
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(extended) }),
      ...(containers === undefined ? {} : { containers: containers.map(extended) }),
    },
  };
}

const indexVariable = 'JOB_COMPLETION_INDEX';

/** Why the indexes that have succeeded are enough; undefined when they are not. */
export function successOf({ spec }: Job, { succeeded }: Indexes): string | undefined {
  const rules = succeeded.length === 0 ? [] : (spec?.successPolicy?.rules ?? []);
  const met = rules.findIndex(({ succeededIndexes: text, succeededCount: count = Number.POSITIVE_INFINITY }) => {
    if (text === undefined) return totalOf(succeeded) >= count;
    const required = parseIntervals(text, spec?.completions ?? 0);
    const common = overlap(required, succeeded);
    return required.length > 0 && (common === totalOf(required) || common >= count);
  });
  return met < 0 ? undefined : `Matched rules at index ${met}`;
}
