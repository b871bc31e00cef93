import type { Spec } from './model.ts';

type Rules = NonNullable<NonNullable<Spec['behavior']>['scaleUp']>;

/** Recommendations and changes of an autoscaler, kept while they matter. */
export interface Memory {
  /** Recommendations, before they were limited. */
  recommended: readonly { readonly replicas: number; readonly time: number }[];
  /** By how many replicas the target was scaled. */
  up: readonly Change[];
  down: readonly Change[];
}

interface Change {
  readonly replicas: number;
  readonly time: number;
}

/** Between what and from where to scale. */
export interface Range {
  readonly current: number;
  readonly least: number;
  readonly most: number;
  readonly now: number;
}

/** The desired number of replicas, with the conditions that explain it. */
export interface Decision {
  readonly replicas: number;
  readonly able: Reason;
  readonly limited: Reason & { readonly status: 'True' | 'False' };
}

type Reason = { readonly reason: string; readonly message: string };

/** Without other rules the highest recommendation of this time holds (ms). */
const defaultWindowMs = 300_000;
/** Without other rules the replicas may double at once, and become four. */
const [upFactor, upLeast] = [2, 4];

const stabilized = (direction: 'Up' | 'Down'): Reason => {
  const [were, applied] = direction === 'Up' ? ['lower', 'lowest'] : ['higher', 'highest'];
  const message = `recent recommendations were ${were} than current one, applying the ${applied} recent recommendation`;
  return { reason: `Scale${direction}Stabilized`, message };
};
const steady: Reason = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' };
const within: Reason = {
  reason: 'DesiredWithinRange',
  message: 'the desired count is within the acceptable range',
};
const limits = {
  ScaleUpLimit: 'the desired replica count is increasing faster than the maximum scale rate',
  ScaleDownLimit: 'the desired replica count is decreasing faster than the maximum scale rate',
  TooManyReplicas: 'the desired replica count is more than the maximum replica count',
  TooFewReplicas: 'the desired replica count is less than the minimum replica count',
};

function decided(desired: number, able: Reason, replicas: number, limit: keyof typeof limits): Decision {
  if (replicas === desired) return { replicas, able, limited: { status: 'False', ...within } };
  return { replicas, able, limited: { status: 'True', reason: limit, message: limits[limit] } };
}

/** Limits a recommendation by recent ones and by how fast replicas may change, and remembers it. */
export function limit(memory: Memory, behavior: Spec['behavior'], range: Range, recommended: number): Decision {
  const decision =
    behavior === undefined ? byDefault(memory, range, recommended) : byRules(memory, behavior, range, recommended);
  const { scaleUp, scaleDown } = behavior ?? {};
  const retentionMs = Math.max(windowOf(scaleUp, 0), windowOf(scaleDown, defaultWindowMs));
  memory.recommended = [
    ...memory.recommended.filter(({ time }) => time >= range.now - retentionMs),
    { replicas: recommended, time: range.now },
  ];
  return decision;
}

const windowOf = (rules: Rules | undefined, standard: number): number =>
  rules?.stabilizationWindowSeconds === undefined ? standard : rules.stabilizationWindowSeconds * 1000;

function byDefault({ recommended: recent }: Memory, range: Range, recommended: number): Decision {
  const { current, least, most, now } = range;
  const desired = recent
    .filter(({ time }) => time >= now - defaultWindowMs)
    .reduce((highest, { replicas }) => Math.max(highest, replicas), recommended);
  const able = desired === recommended ? steady : stabilized('Down');
  if (desired < least) return decided(desired, able, least, 'TooFewReplicas');
  const fastest = Math.max(upFactor * current, upLeast);
  return decided(desired, able, Math.min(desired, most, fastest), most > fastest ? 'ScaleUpLimit' : 'TooManyReplicas');
}

function byRules(
  memory: Memory,
  { scaleUp = {}, scaleDown = {} }: NonNullable<Spec['behavior']>,
  { current, least, most, now }: Range,
  recommended: number,
): Decision {
  const since = (window: number) => memory.recommended.filter(({ time }) => time > now - window);
  const lowest = since(windowOf(scaleUp, 0)).reduce((low, { replicas }) => Math.min(low, replicas), recommended);
  const highest = since(windowOf(scaleDown, defaultWindowMs)).reduce(
    (high, { replicas }) => Math.max(high, replicas),
    recommended,
  );
  const desired = Math.min(Math.max(current, lowest), highest);
  const able = desired === recommended ? steady : stabilized(recommended >= current ? 'Up' : 'Down');
  if (desired > current) {
    const fastest = Math.max(current, fastestUp(memory, scaleUp, current, now));
    return decided(
      desired,
      able,
      Math.min(desired, most, fastest),
      most > fastest ? 'ScaleUpLimit' : 'TooManyReplicas',
    );
  }
  if (desired < current) {
    const fastest = Math.min(current, fastestDown(memory, scaleDown, current, now));
    return decided(
      desired,
      able,
      Math.max(desired, least, fastest),
      least < fastest ? 'ScaleDownLimit' : 'TooFewReplicas',
    );
  }
  return decided(desired, able, desired, 'TooManyReplicas');
}

/** The most replicas that the policies allow. */
function fastestUp(memory: Memory, { selectPolicy, policies = [] }: Rules, current: number, now: number): number {
  if (selectPolicy === 'Disabled') return current;
  const allowed = policies.map(({ type, value = 0, periodSeconds = 0 }) => {
    const began = replicasAt(memory, current, now - periodSeconds * 1000);
    return type === 'Pods' ? began + value : Math.ceil(began * (1 + value / 100));
  });
  return selectPolicy === 'Min'
    ? allowed.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
    : allowed.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
}

/** The fewest replicas that the policies allow. */
function fastestDown(memory: Memory, { selectPolicy, policies = [] }: Rules, current: number, now: number): number {
  if (selectPolicy === 'Disabled') return current;
  const allowed = policies.map(({ type, value = 0, periodSeconds = 0 }) => {
    const began = replicasAt(memory, current, now - periodSeconds * 1000);
    return type === 'Pods' ? began - value : Math.trunc(began * (1 - value / 100));
  });
  return selectPolicy === 'Min'
    ? allowed.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
    : allowed.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
}

/** How many replicas there were before the changes since then. */
function replicasAt({ up, down }: Memory, current: number, since: number): number {
  const sum = (changes: readonly Change[]) =>
    changes.reduce((total, { replicas, time }) => (time > since ? total + replicas : total), 0);
  return current - sum(up) + sum(down);
}

/** Remembers that the target was scaled, for as long as a policy looks back. */
export function remember(memory: Memory, behavior: Spec['behavior'], from: number, to: number, now: number): void {
  if (behavior === undefined) return;
  const [direction, rules] = to > from ? (['up', behavior.scaleUp] as const) : (['down', behavior.scaleDown] as const);
  const policies = rules?.policies ?? [];
  const longest = policies.reduce((period, { periodSeconds = 0 }) => Math.max(period, periodSeconds * 1000), 0);
  const recent = memory[direction].filter(({ time }) => time >= now - longest);
  memory[direction] = [...recent, { replicas: Math.abs(to - from), time: now }];
}
