import { type Client, groupOf, readJson } from '../../client/index.ts';
import {
  type ApiObject,
  type Json,
  type LabelSelector,
  type Names,
  parseDuration,
  parseQuantity,
  parseTime,
  StatusError,
} from '../../meta/index.ts';
import { resourceOf, type ServedResources } from '../metadata/discovery.ts';
import { messageOf } from '../shared/pod-control.ts';

/** The values of a pod in a metrics API. */
export interface Sample {
  /** In thousandths. */
  readonly value: number;
  /** When it was taken, and over what time (ms). */
  readonly time: number;
  readonly window: number;
}

/** By the names of pods. */
export type Samples = Map<string, Sample>;

/** Reads metrics by the metrics APIs. Each function throws an Error that says why a metric cannot be had. */
export interface Metrics {
  readonly client: Client;
  readonly names: Names;
  readonly served: ServedResources;
  readonly namespace: string;
}

interface PodMetrics extends ApiObject {
  readonly timestamp?: string;
  readonly window?: string;
  readonly containers?: { readonly name?: string; readonly usage?: { readonly [resource: string]: string } }[];
}

interface MetricValue {
  readonly describedObject?: { readonly name?: string };
  readonly timestamp?: string;
  readonly windowSeconds?: number;
  /** The same in v1beta1. */
  readonly window?: number;
  readonly value?: string | number;
}

/** The window of samples that do not tell theirs (ms). */
const defaultWindow = 60_000;
const maxMilli = 2n ** 63n - 1n;

/** A quantity in thousandths, rounded up. */
export function milliOf(quantity: string | number): number {
  const { nano } = parseQuantity(String(quantity));
  const milli = nano > 0n ? (nano + 999_999n) / 1_000_000n : nano / 1_000_000n;
  return Number(milli > maxMilli ? maxMilli : milli);
}

/** The usage of a resource by the pods, or by a container in each. */
export async function resourceSamples(
  { client, names, namespace }: Metrics,
  resource: string,
  selector: LabelSelector,
  container: string | undefined,
): Promise<Samples> {
  const place = { apiVersion: `metrics.${names.domain}/v1beta1`, resource: 'pods', namespace };
  const { items } = await client.list<PodMetrics>(place, { labelSelector: selector.text }).catch((error: unknown) => {
    throw unavailable('resource', error, `get pods.metrics.${names.domain}`);
  });
  if (items.length === 0) throw new Error('no metrics returned from resource metrics API');
  const samples: Samples = new Map();
  for (const { metadata, timestamp = '', window = '', containers = [] } of items) {
    const counted = container === undefined ? containers : containers.filter(({ name }) => name === container);
    const usages = counted.map(({ usage }) => usage?.[resource]);
    if (usages.length === 0 || usages.includes(undefined)) continue;
    const value = usages.reduce((sum, usage) => sum + milliOf(usage ?? 0), 0);
    samples.set(metadata.name ?? '', { value, time: parseTime(timestamp), window: durationOf(window) });
  }
  return samples;
}

const durationOf = (text: string): number => (text === '' ? 0 : Number(parseDuration(text) / 1_000_000n));

/** A metric of each of the pods. */
export async function podSamples(
  metrics: Metrics,
  metric: string,
  selector: LabelSelector,
  metricSelector: LabelSelector,
): Promise<Samples> {
  const query = { labelSelector: selector.text, metricLabelSelector: metricSelector.text };
  const items = await customValues(metrics, ['namespaces', metrics.namespace, 'pods', '*', metric], query);
  if (items.length === 0) throw new Error('no metrics returned from custom metrics API');
  const samples: Samples = new Map();
  for (const { describedObject, timestamp = '', windowSeconds, window = windowSeconds, value = 0 } of items) {
    const length = window === undefined ? defaultWindow : window * 1000;
    samples.set(describedObject?.name ?? '', { value: milliOf(value), time: parseTime(timestamp), window: length });
  }
  return samples;
}

/** A metric of an object (thousandths). */
export async function objectValue(
  metrics: Metrics,
  object: { readonly apiVersion?: string; readonly kind?: string; readonly name?: string },
  metric: string,
  metricSelector: LabelSelector,
): Promise<number> {
  const { served, namespace } = metrics;
  const { apiVersion = '', kind = '', name = '' } = object;
  const group = groupOf(apiVersion);
  // The object may not be in another namespace.
  const isNamespace = group === '' && kind === 'Namespace';
  const servedResource = resourceOf(served, apiVersion, kind);
  if (servedResource === undefined) {
    throw new Error(`unable to fetch metrics from custom metrics API: ${noMatches(apiVersion, kind)}`);
  }
  const resource = group === '' ? servedResource.resource : `${servedResource.resource}.${group}`;
  const path = isNamespace
    ? ['namespaces', namespace, 'metrics', metric]
    : ['namespaces', namespace, resource, name, metric];
  const items = await customValues(metrics, path, { metricLabelSelector: metricSelector.text });
  const [item] = items;
  if (items.length !== 1 || item === undefined) {
    const text = `the custom metrics API server returned ${items.length} results when we asked for exactly one`;
    throw new Error(`unable to fetch metrics from custom metrics API: ${text}`);
  }
  return milliOf(item.value ?? 0);
}

/** The message for a kind that is not served. */
export const noMatches = (apiVersion: string, kind: string): string =>
  `no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(groupOf(apiVersion))}`;

/** The values of a metric that is not about an object of the cluster (thousandths). */
export async function externalValues(
  { client, names, namespace }: Metrics,
  metric: string,
  metricSelector: LabelSelector,
): Promise<number[]> {
  const group = `external.metrics.${names.domain}`;
  const path = [group, 'v1beta1', 'namespaces', namespace, metric];
  const items = await values(client, path, { labelSelector: metricSelector.text }).catch((error: unknown) => {
    throw unavailable('external', error, `get ${metric}.${group}`);
  });
  if (items.length === 0) throw new Error('no metrics returned from external metrics API');
  return items.map(({ value = 0 }) => milliOf(value));
}

async function customValues(
  { client, names, served }: Metrics,
  path: readonly string[],
  query: { readonly [name: string]: string },
): Promise<readonly MetricValue[]> {
  const group = `custom.metrics.${names.domain}`;
  const version = served.preferred.find((resource) => resource.group === group)?.apiVersion.split('/')[1];
  if (version === undefined) {
    throw new Error(`unable to fetch metrics from custom metrics API: no custom metrics API (${group}) registered`);
  }
  return values(client, [group, version, ...path], query).catch((error: unknown) => {
    throw unavailable('custom', error, `get ${path[2]}.${group} ${path[3]}`);
  });
}

async function values(
  client: Client,
  path: readonly string[],
  query: { readonly [name: string]: string },
): Promise<readonly MetricValue[]> {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  const url = `/apis/${path.map(encodeURIComponent).join('/')}${parameters === '' ? '' : `?${parameters}`}`;
  const body: Json = await readJson(await client.request({ method: 'GET', url, headers: {} }));
  const { items } = body as { readonly items?: readonly MetricValue[] };
  return items ?? [];
}

/** The messages for responses that do not come from an API. */
const generic: { readonly [code: number]: string } = {
  404: 'the server could not find the requested resource',
  503: 'the server is currently unable to handle the request',
};

/** The error of a metrics API. */
function unavailable(api: string, error: unknown, query: string): Error {
  const text = error instanceof StatusError && error.reason === '' ? generic[error.code] : undefined;
  const why = text === undefined ? messageOf(error) : `${text} (${query})`;
  return new Error(`unable to fetch metrics from ${api} metrics API: ${why}`, { cause: error });
}
