import type { LabelSelector } from '../../meta/index.ts';
import { formatQuantity, selectorFromObject } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { LabelSelector as LabelSelectorObject } from '../../types/meta-v1.ts';
import { messageOf } from '../shared/pod-control.ts';
import type { MetricSpec, MetricStatus } from './model.ts';
import { type Basis, byAverage, byShare, byUtilization, byValue } from './replicas.ts';
import { externalValues, type Metrics, milliOf, objectValue, podSamples, resourceSamples } from './samples.ts';

/** The result of a metric. */
export interface Measured {
  readonly replicas: number;
  /** As conditions and events name the metric. */
  readonly name: string;
  readonly status: MetricStatus;
}

/** A metric that says nothing about replicas. */
export class MetricError extends Error {
  /** Of the condition and the event. */
  readonly reason: string;
  /** Names the metric too. */
  readonly summary: string;

  constructor(reason: string, message: string, summary: string) {
    super(message);
    this.reason = reason;
    this.summary = summary;
  }
}

/** Where a metric is measured. */
export interface Site {
  readonly metrics: Metrics;
  readonly basis: Basis;
  /** Of the pods. */
  readonly selector: LabelSelector;
}

type Target = NonNullable<NonNullable<MetricSpec['resource']>['target']>;

/** Measures a metric. @throws MetricError */
export async function measure(site: Site, spec: MetricSpec): Promise<Measured> {
  const { type = '' } = spec;
  const way = Object.hasOwn(ways, type) ? ways[type as keyof typeof ways] : undefined;
  if (way === undefined) {
    const text = `unknown metric source type ${JSON.stringify(type)}`;
    throw new MetricError('InvalidMetricSourceType', text, text);
  }
  try {
    return await way.measure(site, spec);
  } catch (error) {
    const text = messageOf(error);
    throw new MetricError(`FailedGet${type}Metric`, text, `failed to get ${way.nameOf(spec)} value: ${text}`);
  }
}

interface Way {
  readonly nameOf: (spec: MetricSpec) => string;
  readonly measure: (site: Site, spec: MetricSpec) => Promise<Measured>;
}

const ways: { readonly [type in 'Object' | 'Pods' | 'Resource' | 'ContainerResource' | 'External']: Way } = {
  Object: { nameOf: () => 'object metric', measure: measureObject },
  Pods: { nameOf: () => 'pods metric', measure: measurePods },
  Resource: { nameOf: ({ resource }) => `${resource?.name} resource metric`, measure: measureResource },
  ContainerResource: {
    nameOf: ({ containerResource }) => `${containerResource?.container} container metric`,
    measure: measureResource,
  },
  External: { nameOf: ({ external }) => `${external?.metric?.name} external metric`, measure: measureExternal },
};

/** The result of a call, or its error after these words. */
async function explained<T>(words: string, call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw new Error(`${words}: ${messageOf(error)}`, { cause: error });
  }
}

const quantityOf = (milli: number, format: 'DecimalSI' | 'BinarySI' = 'DecimalSI'): string =>
  formatQuantity({ nano: BigInt(Math.trunc(milli)) * 1_000_000n, format });

async function measureResource({ metrics, basis, selector }: Site, spec: MetricSpec): Promise<Measured> {
  const { name = '', target = {} } = spec.resource ?? spec.containerResource ?? {};
  const container = spec.resource === undefined ? (spec.containerResource?.container ?? '') : undefined;
  const samples = () =>
    explained(`unable to get metrics for resource ${name}`, () => resourceSamples(metrics, name, selector, container));
  const format = name === 'memory' ? 'BinarySI' : 'DecimalSI';
  const measured = (replicas: number, title: string, current: Current): Measured => ({
    replicas,
    name: title,
    status:
      container === undefined
        ? { type: 'Resource', resource: { name, current } }
        : { type: 'ContainerResource', containerResource: { name, container, current } },
  });
  const { averageValue, averageUtilization: percent } = target;
  if (averageValue !== undefined) {
    const proposal = await explained(`failed to get ${name} usage`, async () =>
      byAverage(basis, await samples(), milliOf(averageValue), name),
    );
    return measured(proposal.replicas, `${name} resource`, { averageValue: quantityOf(proposal.usage, format) });
  }
  if (percent === undefined) {
    const missing = 'neither an average utilization target nor an average value (usage) target was set';
    throw new Error(`invalid resource metric source: ${missing}`);
  }
  const proposal = await explained(`failed to get ${name} utilization`, async () =>
    byUtilization(basis, await samples(), percent, name, container),
  );
  const { replicas, usage, utilization = 0 } = proposal;
  const source = container === undefined ? 'resource' : 'container resource';
  const current = { averageUtilization: utilization, averageValue: quantityOf(usage, format) };
  return measured(replicas, `${name} ${source} utilization (percentage of request)`, current);
}

async function measurePods({ metrics, basis, selector }: Site, { pods }: MetricSpec): Promise<Measured> {
  const { metric = {}, target = {} } = pods ?? {};
  const { name = '' } = metric;
  const samples = await explained(`unable to get metric ${name}`, () =>
    podSamples(metrics, name, selector, selectorOf(metric.selector)),
  );
  const { replicas, usage } = byAverage(basis, samples, milliOf(target.averageValue ?? '0'));
  const current = { averageValue: quantityOf(usage) };
  return { replicas, name: `pods metric ${name}`, status: { type: 'Pods', pods: { metric, current } } };
}

async function measureObject({ metrics, basis }: Site, { object }: MetricSpec): Promise<Measured> {
  const { metric = {}, target = {}, describedObject = {} } = object ?? {};
  const { name = '' } = metric;
  const { kind, name: described } = describedObject;
  const read = () =>
    objectValue(metrics, describedObject, name, selectorOf(metric.selector)).catch((error: unknown) => {
      const where = `${kind} on ${metrics.namespace} ${described}`;
      throw new Error(`unable to get metric ${name}: ${where}/${messageOf(error)}`, { cause: error });
    });
  const status = (current: Current) => ({ type: 'Object', object: { describedObject, metric, current } });
  if (target.type === 'Value' && target.value !== undefined) {
    const { replicas, usage } = byValue(basis, await read(), milliOf(target.value));
    return { replicas, name: `${kind} metric ${name}`, status: status({ value: quantityOf(usage) }) };
  }
  const average = target.type === 'AverageValue' ? target.averageValue : undefined;
  if (average === undefined) throw new Error(`invalid object metric source: ${noTarget}`);
  const value = await explained(`failed to get ${name} object metric`, read);
  const { replicas, usage } = byShare(basis, value, milliOf(average));
  const title = `external metric ${name}(${selectorText(metric.selector)})`;
  return { replicas, name: title, status: status({ averageValue: quantityOf(usage) }) };
}

type Current = { value?: string; averageValue?: string; averageUtilization?: number };

const noTarget = 'neither a value target nor an average value target was set';

async function measureExternal({ metrics, basis }: Site, { external }: MetricSpec): Promise<Measured> {
  const { metric = {}, target = {} }: { metric?: NonNullable<typeof external>['metric']; target?: Target } =
    external ?? {};
  const { name = '' } = metric ?? {};
  const selector = selectorText(metric?.selector);
  const read = () =>
    explained(`unable to get external metric ${metrics.namespace}/${name}/${selector}`, async () =>
      (await externalValues(metrics, name, selectorOf(metric?.selector))).reduce((a, b) => a + b, 0),
    );
  const title = `external metric ${name}(${selector})`;
  const status = (current: Current) => ({ type: 'External', external: { metric: metric ?? {}, current } });
  const { averageValue, value } = target;
  if (averageValue !== undefined) {
    const total = await explained(`failed to get ${name} external metric`, read);
    const { replicas, usage } = byShare(basis, total, milliOf(averageValue));
    return { replicas, name: title, status: status({ averageValue: quantityOf(usage) }) };
  }
  if (value === undefined) throw new Error(`invalid external metric source: ${noTarget}`);
  const { replicas, usage } = await explained(`failed to get external metric ${name}`, async () =>
    byValue(basis, await read(), milliOf(value)),
  );
  return { replicas, name: title, status: status({ value: quantityOf(usage) }) };
}

type SelectorObject = Infer<typeof LabelSelectorObject>;

/** Without a selector all values of the metric are meant. */
const selectorOf = (selector: SelectorObject | undefined): LabelSelector =>
  selectorFromObject((selector ?? {}) as never);

/** The selector as messages show it. */
function selectorText(selector: SelectorObject | undefined): string {
  if (selector === undefined) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key = '', operator = '', values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const map = labels.map(([key, value]) => `${key}: ${value},`).join('');
  const list = expressions.join('');
  return `&LabelSelector{MatchLabels:map[string]string{${map}},MatchExpressions:[]LabelSelectorRequirement{${list}},}`;
}
