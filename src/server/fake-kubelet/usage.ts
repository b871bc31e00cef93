/** What fake nodes and their pods use, as metrics: by annotations of the pods, else by their requests. */
import { fakeNodeIndex } from '../../controllers/index.ts';
import { type ApiObject, type Clock, formatTime, type JsonObject, type Names } from '../../meta/index.ts';
import type { VirtualList } from '../../registry/index.ts';
import { addInPlace, encodeResourceList, parseResourceList, type ResourceList } from '../../rules/index.ts';
import { Node, Pod } from '../../types/core-v1.ts';
import type { Backend } from '../backend.ts';
import { annotatedUsage, type PodObject } from './pod-annotations.ts';

export interface UsageOptions {
  /** How many fake nodes there are. */
  readonly count: number;
  readonly names: Names;
  readonly clock: Clock;
  readonly backend: Pick<Backend, 'registry'>;
}

/** How long usage is said to be measured. */
const window = '15s';
/** What a container without requests uses, and a node beside its pods. */
const idleContainer = { cpu: '1m', memory: '16Mi' };
const idleNode = { cpu: '100m', memory: '512Mi' };

/** The lists of usage, by resource. */
export function usageLists(options: UsageOptions): [resource: string, list: VirtualList][] {
  const group = `metrics.${options.names.domain}`;
  return [
    [`nodes.${group}`, () => nodeUsages(options)],
    [`pods.${group}`, () => podUsages(options)],
  ];
}

async function podUsages(options: UsageOptions): Promise<ApiObject[]> {
  const pods = await fakePods(options);
  return pods.map((pod) => {
    const containers = runningContainers(pod).map((container) => ({
      name: container,
      usage: usageOf(pod, options.names, container),
    }));
    return metricsOf(options, 'PodMetrics', pod, { containers });
  });
}

async function nodeUsages(options: UsageOptions): Promise<ApiObject[]> {
  const pods = await fakePods(options);
  const nodes = await options.backend.registry.objects.list(Node, '');
  const fake = nodes.filter(({ metadata }) => isFake(options, metadata.name));
  const used = new Map(fake.map(({ metadata }) => [metadata.name, parseResourceList(idleNode)]));
  for (const pod of pods) {
    const ofNode = used.get(pod.spec?.nodeName);
    if (ofNode === undefined) continue;
    for (const container of runningContainers(pod)) {
      addInPlace(ofNode, parseResourceList(usageOf(pod, options.names, container)));
    }
  }
  return fake.map((node) => {
    const usage = encodeResourceList(used.get(node.metadata.name) ?? new Map());
    return metricsOf(options, 'NodeMetrics', node, { usage });
  });
}

const isFake = ({ count }: UsageOptions, node = ''): boolean => fakeNodeIndex(node, count) !== undefined;

/** The pods on fake nodes of which a container runs. */
async function fakePods(options: UsageOptions): Promise<PodObject[]> {
  const pods = await options.backend.registry.objects.list(Pod, '');
  return pods.filter((pod) => isFake(options, pod.spec?.nodeName) && runningContainers(pod).length > 0);
}

function runningContainers({ status = {} }: PodObject): string[] {
  const { initContainerStatuses = [], containerStatuses = [] } = status;
  return [...initContainerStatuses, ...containerStatuses]
    .filter(({ state }) => state?.running !== undefined)
    .map(({ name = '' }) => name);
}

/** What a container uses: by annotation, by its requests, or little. */
function usageOf(pod: PodObject, names: Names, container: string): ResourceList {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const { requests } = [...initContainers, ...containers].find(({ name }) => name === container)?.resources ?? {};
  const of = (resource: 'cpu' | 'memory') =>
    annotatedUsage(pod, names, container, resource) ?? requests?.[resource] ?? idleContainer[resource];
  return { cpu: of('cpu'), memory: of('memory') };
}

function metricsOf(
  { names, clock }: UsageOptions,
  kind: string,
  { metadata: { name, namespace, labels } }: Pick<ApiObject, 'metadata'>,
  rest: JsonObject,
): ApiObject {
  const timestamp = formatTime(clock.now());
  const metadata = {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    creationTimestamp: timestamp,
  };
  return { kind, apiVersion: `metrics.${names.domain}/v1beta1`, metadata, timestamp, window, ...rest };
}
