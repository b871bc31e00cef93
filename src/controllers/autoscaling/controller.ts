import { keyOf } from '../../client/index.ts';
import { formatTime, jsonEqual, type LabelSelector, parseLabelSelector, parseQuantity } from '../../meta/index.ts';
import * as kinds from '../shared/kinds.ts';
import { messageOf } from '../shared/pod-control.ts';
import type { ScaleObject } from '../shared/scales.ts';
import { selected, selectsAny } from '../shared/selection.ts';
import type { Controller, ControllerContext } from '../types.ts';
import { limit, type Memory, remember } from './behavior.ts';
import { type Measured, MetricError, measure, type Site } from './metric.ts';
import { type Autoscaler, type Condition, type MetricStatus, type Status, setCondition, syncMs } from './model.ts';
import type { Tolerance } from './replicas.ts';
import { findScale, writeScale } from './target.ts';

/** How far usage may be from its target without a change of replicas, unless the autoscaler says it. */
const defaultTolerance = 0.1;

/** The state that the controller keeps of an autoscaler. */
interface Remembered extends Memory {
  /** Of the pods of its target, when that was last known. */
  selector?: LabelSelector;
}

/** The state of one reconcile of an autoscaler. */
interface Pass {
  readonly context: ControllerContext;
  readonly autoscaler: Autoscaler;
  readonly memory: Remembered;
  /** Of the status to be. */
  readonly conditions: Condition[];
  readonly now: number;
}

/** Scales what autoscalers target, by the metrics of its pods and other ones. */
export const horizontalPodAutoscalerController: Controller = {
  name: 'horizontal-pod-autoscaler-controller',
  needs: [kinds.horizontalPodAutoscalers, kinds.pods],
  account: 'horizontal-pod-autoscaler',
  start(context) {
    const { informers, clock, log } = context;
    const autoscalers = informers.of(kinds.horizontalPodAutoscalers);
    informers.of(kinds.pods);
    const memories = new Map<string, Remembered>();
    const queue = context.queue('horizontalpodautoscaler', async (key) => {
      const autoscaler = autoscalers.getByKey(key);
      if (autoscaler === undefined) return undefined;
      const memory = memories.get(key) ?? { recommended: [], up: [], down: [] };
      memories.set(key, memory);
      const conditions = structuredClone(autoscaler.status?.conditions ?? []);
      try {
        await reconcile({ context, autoscaler, memory, conditions, now: clock.now() }, memories);
      } catch (error) {
        log.warn('failed to reconcile an autoscaler', { key, error });
      }
      // Failures are reported in the status: none is a reason to try again sooner.
      return { requeueAfterMs: syncMs };
    });
    autoscalers.onChange((autoscaler, old) => {
      if (autoscaler === undefined) memories.delete(keyOf(old as Autoscaler));
      else queue.addAfter(keyOf(autoscaler), syncMs);
    });
  },
};

async function reconcile(pass: Pass, memories: ReadonlyMap<string, Remembered>): Promise<void> {
  const { context, autoscaler, memory, conditions, now } = pass;
  const { events } = context;
  const { status } = autoscaler;
  let scale: ScaleObject;
  try {
    scale = await findScale(context, autoscaler);
  } catch (error) {
    events.record(autoscaler, 'Warning', 'FailedGetScale', messageOf(error));
    const text = `the HPA controller was unable to get the target's current scale: ${messageOf(error)}`;
    setCondition(conditions, 'AbleToScale', 'False', 'FailedGetScale', text, now);
    await writeStatus(pass, { ...status });
    return;
  }
  const text = "the HPA controller was able to get the target's current scale";
  setCondition(conditions, 'AbleToScale', 'True', 'SucceededGetScale', text, now);
  const current = scale.spec?.replicas ?? 0;
  if (memory.recommended.length === 0) memory.recommended = [{ replicas: current, time: now }];
  const { decision, metrics } = await decide(pass, scale, memories);
  const counted = (desiredReplicas: number, scaled = false): Status => {
    const { currentReplicas: _, lastScaleTime, ...rest } = statusOf(desiredReplicas, metrics);
    const time = scaled ? formatTime(now) : (lastScaleTime ?? status?.lastScaleTime);
    return {
      ...rest,
      ...(current === 0 ? {} : { currentReplicas: current }),
      ...(time === undefined ? {} : { lastScaleTime: time }),
    };
  };
  if (decision === undefined || decision.replicas === current) {
    const desired = decision === undefined ? (status?.desiredReplicas ?? 0) : current;
    await writeStatus(pass, counted(desired));
    return;
  }
  const { replicas, reason } = decision;
  try {
    await writeScale(context, autoscaler, scale, replicas);
  } catch (error) {
    const why = messageOf(error);
    events.record(autoscaler, 'Warning', 'FailedRescale', `New size: ${replicas}; reason: ${reason}; error: ${why}`);
    const failed = `the HPA controller was unable to update the target scale: ${why}`;
    setCondition(conditions, 'AbleToScale', 'False', 'FailedUpdateScale', failed, now);
    await writeStatus(pass, counted(status?.desiredReplicas ?? 0));
    return;
  }
  const message = `the HPA controller was able to update the target scale to ${replicas}`;
  setCondition(conditions, 'AbleToScale', 'True', 'SucceededRescale', message, now);
  events.record(autoscaler, 'Normal', 'SuccessfulRescale', `New size: ${replicas}; reason: ${reason}`);
  remember(memory, autoscaler.spec?.behavior, current, replicas, now);
  await writeStatus(pass, counted(replicas, true));
}

const statusOf = (desiredReplicas: number, currentMetrics: MetricStatus[]): Status => ({
  desiredReplicas,
  ...(currentMetrics.length === 0 ? {} : { currentMetrics }),
});

interface Decided {
  /** Undefined: the metrics do not say. */
  readonly decision: { readonly replicas: number; readonly reason: string } | undefined;
  readonly metrics: MetricStatus[];
}

/** The desired number of replicas. */
async function decide(pass: Pass, scale: ScaleObject, memories: ReadonlyMap<string, Remembered>): Promise<Decided> {
  const { autoscaler, memory, conditions, now } = pass;
  const { minReplicas: least = 1, maxReplicas: most = 1, behavior } = autoscaler.spec ?? {};
  const current = scale.spec?.replicas ?? 0;
  if (current === 0) {
    const text = 'scaling is disabled since the replica count of the target is zero';
    setCondition(conditions, 'ScalingActive', 'False', 'ScalingDisabled', text, now);
    return { decision: { replicas: 0, reason: '' }, metrics: [] };
  }
  if (current > most) {
    const reason = 'Current number of replicas above Spec.MaxReplicas';
    return { decision: { replicas: most, reason }, metrics: [] };
  }
  if (current < least) {
    const reason = 'Current number of replicas below Spec.MinReplicas';
    return { decision: { replicas: least, reason }, metrics: [] };
  }
  const { proposal, metrics } = await propose(pass, scale, memories);
  if (proposal === undefined) return { decision: undefined, metrics };
  const reason = proposal.replicas > current ? `${proposal.name} above target` : 'All metrics below target';
  const { replicas, able, limited } = limit(memory, behavior, { current, least, most, now }, proposal.replicas);
  setCondition(conditions, 'AbleToScale', 'True', able.reason, able.message, now);
  setCondition(conditions, 'ScalingLimited', limited.status, limited.reason, limited.message, now);
  return { decision: { replicas, reason }, metrics };
}

interface Proposed {
  readonly proposal: Pick<Measured, 'replicas' | 'name'> | undefined;
  readonly metrics: MetricStatus[];
}

/** The most replicas that a metric asks for. Metrics that fail are recorded; then there are not to be fewer replicas. */
async function propose(pass: Pass, scale: ScaleObject, memories: ReadonlyMap<string, Remembered>): Promise<Proposed> {
  const { context, autoscaler, conditions, now } = pass;
  const { events } = context;
  const specs = autoscaler.spec?.metrics ?? [];
  const fail = (text: string, metrics: MetricStatus[]): Proposed => {
    events.record(autoscaler, 'Warning', 'FailedComputeMetricsReplicas', text);
    return { proposal: undefined, metrics };
  };
  const selector = await selectorOf(pass, scale, memories);
  if (typeof selector === 'string') return fail(selector, []);
  const site = await siteOf(pass, scale, selector);
  const metrics: MetricStatus[] = [];
  const errors: MetricError[] = [];
  let best: Measured | undefined;
  for (const spec of specs) {
    try {
      const measured = await measure(site, spec);
      metrics.push(measured.status);
      if (best === undefined || best.replicas === 0 || measured.replicas > best.replicas) best = measured;
    } catch (error) {
      if (!(error instanceof MetricError)) throw error;
      events.record(autoscaler, 'Warning', error.reason, error.message);
      metrics.push({ type: '' });
      errors.push(error);
    }
  }
  const [first] = errors;
  if (best === undefined || (first !== undefined && best.replicas < (scale.spec?.replicas ?? 0))) {
    if (first === undefined) return { proposal: undefined, metrics };
    const text = `the HPA was unable to compute the replica count: ${first.message}`;
    setCondition(conditions, 'ScalingActive', 'False', first.reason, text, now);
    const counts = `${errors.length} invalid out of ${specs.length}`;
    return fail(`invalid metrics (${counts}), first error is: ${first.summary}`, metrics);
  }
  const text = `the HPA was able to successfully calculate a replica count from ${best.name}`;
  setCondition(conditions, 'ScalingActive', 'True', 'ValidMetricFound', text, now);
  return { proposal: best, metrics };
}

/** The selector of the target's pods; the text of the error when they are not its alone. */
async function selectorOf(
  { context, autoscaler, memory, conditions, now }: Pass,
  scale: ScaleObject,
  memories: ReadonlyMap<string, Remembered>,
): Promise<LabelSelector | string> {
  const { selector: text = '' } = scale.status ?? {};
  const refuse = (reason: string, why: string, event = reason, message = why) => {
    context.events.record(autoscaler, 'Warning', event, message);
    setCondition(conditions, 'ScalingActive', 'False', reason, why, now);
    return message;
  };
  if (text === '') {
    const why = "the HPA target's scale is missing a selector";
    return refuse('InvalidSelector', why, 'SelectorRequired', 'selector is required');
  }
  let selector: LabelSelector;
  try {
    selector = parseLabelSelector(text);
  } catch (error) {
    const why = `couldn't convert selector into a corresponding internal selector object: ${messageOf(error)}`;
    return refuse('InvalidSelector', why);
  }
  memory.selector = selector;
  const { namespace = '' } = autoscaler.metadata;
  const { informers, turns } = context;
  const pods = await selected(informers.of(kinds.pods).list(namespace), selector, turns);
  const selecting: Autoscaler[] = [];
  for (const other of informers.of(kinds.horizontalPodAutoscalers).list(namespace)) {
    const theirs = memories.get(keyOf(other))?.selector;
    if (theirs !== undefined && (await selectsAny(theirs, pods, turns))) selecting.push(other);
  }
  if (selecting.length < 2) return selector;
  const names = selecting.map(({ metadata }) => `{${metadata.name} ${metadata.namespace}}`).sort();
  return refuse('AmbiguousSelector', `pods by selector ${text} are controlled by multiple HPAs: [${names.join(' ')}]`);
}

async function siteOf({ context, autoscaler, now }: Pass, scale: ScaleObject, selector: LabelSelector): Promise<Site> {
  const { client, names, metadata, informers, turns } = context;
  const { namespace = '' } = autoscaler.metadata;
  const pods = await selected(informers.of(kinds.pods).list(namespace), selector, turns);
  const basis = {
    replicas: scale.spec?.replicas ?? 0,
    current: scale.status?.replicas ?? 0,
    tolerance: toleranceOf(context, autoscaler),
    pods,
    now,
  };
  return { metrics: { client, names, served: await metadata.discover(), namespace }, basis, selector };
}

function toleranceOf({ settings }: ControllerContext, { spec }: Autoscaler): Tolerance {
  const of = (text: string | undefined) =>
    text === undefined || !settings.features.HPAConfigurableTolerance
      ? defaultTolerance
      : Number(parseQuantity(text).nano) / 1e9;
  return { up: of(spec?.behavior?.scaleUp?.tolerance), down: of(spec?.behavior?.scaleDown?.tolerance) };
}

/** Writes the status with the conditions of the pass, if it has changed. */
async function writeStatus({ context, autoscaler, conditions }: Pass, counts: Status): Promise<void> {
  const { client, events } = context;
  const before = comparable({ desiredReplicas: 0, ...autoscaler.status });
  const status = { desiredReplicas: 0, ...counts, ...(conditions.length === 0 ? {} : { conditions }) };
  if (jsonEqual(before as never, comparable(status) as never)) return;
  try {
    await client
      .kind(kinds.horizontalPodAutoscalers)
      .subresource('status')
      .update({ ...autoscaler, status });
  } catch (error) {
    events.record(autoscaler, 'Warning', 'FailedUpdateStatus', messageOf(error));
  }
}

/** Without fields that say nothing: the server writes metrics always. */
function comparable({ currentMetrics, ...status }: Status): Status {
  return (currentMetrics ?? []).length === 0 ? status : { ...status, ...(currentMetrics && { currentMetrics }) };
}
