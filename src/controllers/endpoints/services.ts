import { type Informer, keyOf } from '../../client/index.ts';
import { formatIp, jsonEqual, readIp } from '../../meta/index.ts';
import type { ServicePort, Service as ServiceSchema } from '../../types/core-v1.ts';
import type { Named } from '../shared/kind.ts';
import { isReady, type Pod } from '../shared/pods.ts';

export type Service = ServiceSchema & Named;

type Entries = readonly (readonly [string, string])[];

const entries = new WeakMap<object, Entries>();
const none: Entries = [];

/** The labels that pods of the service must have. */
export function selectorOf({ spec }: Service): Entries {
  const { selector } = spec ?? {};
  if (!selector) return none;
  const pairs = entries.get(selector) ?? Object.entries(selector);
  entries.set(selector, pairs);
  return pairs;
}

/** The controllers write endpoints of this service: it has a selector, and does not stand for a name outside. */
export const selectsPods = (service: Service): boolean =>
  service.spec?.type !== 'ExternalName' && selectorOf(service).length > 0;

export const isHeadless = ({ spec }: Service): boolean => spec?.clusterIP === 'None' || (spec?.clusterIP ?? '') === '';

/** The pods of the namespace that the service selects. */
export function selectedPods(pods: Informer<Pod>, service: Service): Pod[] {
  const selector = selectorOf(service);
  return pods.list(service.metadata.namespace).filter((pod) => hasLabels(pod, selector));
}

const hasLabels = ({ metadata: { labels } }: Pod, selector: Entries): boolean =>
  labels !== undefined && selector.every(([key, value]) => labels[key] === value);

const labelIn = (namespace: string, key: string, value: string): string => `${namespace}/${key}=${value}`;

/** Calls `add` with the keys of the services whose endpoints may change with a pod. */
export function onServedPods(services: Informer<Service>, pods: Informer<Pod>, add: (service: string) => void): void {
  // A pod has at least the first label of a selector that selects it.
  const index = services.indexBy('first label of selector', (service) =>
    selectorOf(service)
      .slice(0, 1)
      .map(([key, value]) => labelIn(service.metadata.namespace ?? '', key, value)),
  );
  const selecting = (pod: Pod | undefined): string[] => {
    const { namespace = '', labels = {} } = pod?.metadata ?? {};
    return Object.entries(labels)
      .flatMap(([key, value]) => index.get(labelIn(namespace, key, value)))
      .filter((service) => pod !== undefined && hasLabels(pod, selectorOf(service)))
      .map(keyOf);
  };
  pods.onChange((pod, old) => {
    const moved = !jsonEqual(pod?.metadata.labels, old?.metadata.labels);
    const changed = pod === undefined || old === undefined || isChanged(pod, old);
    if (!moved && !changed) return;
    const now = new Set(selecting(pod));
    const before = new Set(moved ? selecting(old) : []);
    for (const key of new Set([...now, ...before])) if (changed || !now.has(key) || !before.has(key)) add(key);
  });
}

/** Whether the change of a pod shows in endpoints. */
const isChanged = (pod: Pod, old: Pod): boolean =>
  pod.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
  isReady(pod) !== isReady(old) ||
  isEnded(pod) !== isEnded(old) ||
  !jsonEqual(pod.status?.podIPs as never, old.status?.podIPs as never);

const isEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** The pod can be an endpoint: it has an address, and has not ended. */
export const isReachable = (pod: Pod): boolean => !isEnded(pod) && (pod.status?.podIPs ?? []).length > 0;

/** The addresses of a pod of one family, in their canonical form. */
export function addressesOf({ status }: Pod, family: string): string[] {
  const size = family === 'IPv6' ? 128 : 32;
  return (status?.podIPs ?? []).flatMap(({ ip = '' }) => {
    const address = readIp(ip);
    return address?.size === size ? [formatIp(address)] : [];
  });
}

/** The families of the addresses that the endpoints of a service have; the first one is that of its `Endpoints`. */
export function familiesOf({ spec }: Service): readonly string[] {
  const { ipFamilies, clusterIP = '' } = spec ?? {};
  if (ipFamilies !== undefined && ipFamilies !== null && ipFamilies.length > 0) return ipFamilies;
  const size = readIp(clusterIP)?.size;
  if (size !== undefined) return [size === 128 ? 'IPv6' : 'IPv4'];
  return ['IPv4', 'IPv6'];
}

/** The host name of a pod in the domain of the service, if it has one there. */
export const hostnameOf = ({ spec }: Pod, service: Service): { hostname?: string } =>
  (spec?.hostname ?? '') !== '' && spec?.subdomain === service.metadata.name ? { hostname: spec?.hostname ?? '' } : {};

/** Names the pod of an endpoint. */
export const referenceTo = ({ metadata: { namespace = '', name = '', uid = '' } }: Pod) => ({
  kind: 'Pod',
  namespace,
  name,
  uid,
});

/** The port of the pod to which a port of the service leads; undefined when no container has one of the name. */
export function targetPortOf({ spec }: Pod, { targetPort, protocol = 'TCP', port }: ServicePort): number | undefined {
  if (typeof targetPort !== 'string') return targetPort ?? port;
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  for (const { ports } of [...(spec?.containers ?? []), ...sidecars]) {
    for (const { name, protocol: own = 'TCP', containerPort } of ports ?? []) {
      if (name === targetPort && own === protocol) return containerPort;
    }
  }
  return undefined;
}
