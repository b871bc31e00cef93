/** The pod and the container that a command means. */
import { at, isJsonObject, type JsonObject } from '../../../meta/index.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { pathOf } from '../../cluster/resource.ts';
import { CommandError } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { pathOfTarget, resourceOf, targetsOf } from '../../objects/targets.ts';
import { jsonText } from '../../output/json.ts';

export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly object: JsonObject;
}

/** A pod by `NAME` or `TYPE/NAME`: of a workload or a service, one of its pods. @throws CommandError */
export async function podOf(cluster: Cluster, arg: string): Promise<Pod> {
  const [target] = await targetsOf(cluster, arg.includes('/') ? [arg] : ['pods', arg]);
  if (target === undefined) throw new CommandError(`the pod ${JSON.stringify(arg)} was not found`);
  const object = await cluster.send({ url: pathOfTarget(target) });
  const { namespace = cluster.namespace } = target;
  if (target.resource.kind === 'Pod') return { namespace, name: target.name ?? '', object };
  const labels = at(object, 'spec', 'selector', 'matchLabels') ?? at(object, 'spec', 'selector');
  if (!isJsonObject(labels))
    throw new CommandError(`${target.resource.kind} ${JSON.stringify(target.name)} has no pods`);
  const selector = Object.entries(labels)
    .map(([key, value]) => `${key}=${jsonText(value)}`)
    .join(',');
  const pods = await podsOf(cluster, namespace, selector);
  const best = pods.toSorted((a, b) => rank(a.object) - rank(b.object))[0];
  if (best === undefined) throw new CommandError('timed out waiting for the condition');
  return best;
}

/** Running pods first. */
const rank = (pod: JsonObject): number => (at(pod, 'status', 'phase') === 'Running' ? 0 : 1);

/** The pods that a label selector matches. */
export async function podsOf(cluster: Cluster, namespace: string, selector: string): Promise<Pod[]> {
  const resource = await resourceOf(cluster, 'pods');
  const { items } = await cluster.send({
    url: `${pathOf(resource, namespace)}?${String(new URLSearchParams({ labelSelector: selector }))}`,
  });
  return (Array.isArray(items) ? items : []).filter(isJsonObject).map((object) => ({
    namespace,
    name: jsonText(at(object, 'metadata', 'name')),
    object,
  }));
}

/** The containers of a pod: with `all`, init containers first and ephemeral containers last. */
export const containersOf = ({ object }: Pod, all = false): JsonObject[] =>
  [...(all ? ['initContainers'] : []), 'containers', ...(all ? ['ephemeralContainers'] : [])].flatMap((field) => {
    const list = at(object, 'spec', field);
    return (Array.isArray(list) ? list : []).filter(isJsonObject);
  });

export const containerNames = (pod: Pod, all = false): string[] =>
  containersOf(pod, all).map(({ name }) => jsonText(name));

/** The container of a flag, or the default one, which is reported where there are several. @throws CommandError */
export function containerOf(pod: Pod, flag: string, io: Io): string {
  if (flag === '') return defaultContainer(pod, io);
  if (containerNames(pod, true).includes(flag)) return flag;
  throw new CommandError(`container ${flag} is not valid for pod ${pod.name}`);
}

/** The container that a pod names as its default, otherwise the first, which is reported where there are several. */
export function defaultContainer(pod: Pod, io: Pick<Io, 'stderr'>, quiet = false): string {
  const all = containerNames(pod, true);
  const [first = ''] = containerNames(pod);
  const annotations = at(pod.object, 'metadata', 'annotations');
  const chosen = Object.entries(isJsonObject(annotations) ? annotations : {}).find(([key]) =>
    key.endsWith('/default-container'),
  )?.[1];
  if (typeof chosen === 'string' && all.includes(chosen)) return chosen;
  if (all.length > 1 && !quiet) {
    const shown = all.map((name) => (containerNames(pod).includes(name) ? name : `${name} (init)`));
    io.stderr.write(`Defaulted container ${JSON.stringify(first)} out of: ${shown.join(', ')}\n`);
  }
  return first;
}
