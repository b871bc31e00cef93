import type { Endpoints } from '../../types/core-v1.ts';
import { isReady, type Pod } from '../shared/pods.ts';
import { orderedPorts, portsKey } from './ports.ts';
import {
  addressesOf,
  familiesOf,
  hostnameOf,
  isReachable,
  referenceTo,
  type Service,
  targetPortOf,
} from './services.ts';

export type Subset = NonNullable<NonNullable<Endpoints['subsets']>>[number];
type Address = NonNullable<Subset['addresses']>[number];
type Port = NonNullable<Subset['ports']>[number];

/** The most addresses that `Endpoints` have. */
const capacity = 1000;

/** The subsets of the endpoints of a service with these pods. */
export function subsetsOf(service: Service, pods: readonly Pod[]): Subset[] {
  const { publishNotReadyAddresses = false, ports = [], clusterIP } = service.spec ?? {};
  const subsets: Subset[] = [];
  for (const pod of pods) {
    if (!isReachable(pod) || (!publishNotReadyAddresses && pod.metadata.deletionTimestamp !== undefined)) continue;
    const address = addressOf(service, pod);
    if (address === undefined) continue;
    const place = publishNotReadyAddresses || isReady(pod) ? 'addresses' : 'notReadyAddresses';
    if (ports.length === 0 && clusterIP === 'None') subsets.push({ [place]: [address] });
    for (const servicePort of ports) {
      const port = targetPortOf(pod, servicePort);
      if (port === undefined) continue;
      const { name = '', protocol = 'TCP', appProtocol } = servicePort;
      const target: Port = {
        ...(name === '' ? {} : { name }),
        port,
        protocol,
        ...(appProtocol == null ? {} : { appProtocol }),
      };
      subsets.push({ [place]: [address], ports: [target] });
    }
  }
  return repack(subsets);
}

function addressOf(service: Service, pod: Pod): Address | undefined {
  const [family = 'IPv4'] = familiesOf(service);
  const [ip] = addressesOf(pod, family);
  if (ip === undefined) return undefined;
  const { nodeName = '' } = pod.spec ?? {};
  return {
    ip,
    ...hostnameOf(pod, service),
    ...(nodeName === '' ? {} : { nodeName }),
    targetRef: referenceTo(pod),
  };
}

interface Member {
  readonly address: Address;
  ready: boolean;
}

/** The addresses of one port, by IP address and pod. */
type Members = Map<string, Member>;

const addressKey = ({ ip, targetRef }: Address): string => `${ip} ${targetRef?.uid ?? ''}`;

/**
 * The subsets in their canonical form: each port with the same addresses is in the same subset, an address occurs once,
 * and not ready if it is anywhere.
 */
export function repack(subsets: readonly Subset[]): Subset[] {
  const byPort = new Map<string, { readonly port?: Port; readonly members: Members }>();
  const addresses = new Map<string, Address>();
  for (const { addresses: ready, notReadyAddresses: notReady, ports } of subsets) {
    for (const port of ports === undefined || ports === null || ports.length === 0 ? [undefined] : ports) {
      const key = portsKey(port === undefined ? [] : [port]);
      const { members } = byPort.get(key) ?? { members: new Map<string, Member>() };
      byPort.set(key, { ...(port === undefined ? {} : { port }), members });
      for (const [list, isReady] of [[ready, true] as const, [notReady, false] as const]) {
        for (const address of list ?? []) add(members, addresses, address, isReady);
      }
    }
  }
  const byMembers = new Map<string, { readonly ports: Port[]; readonly members: Members }>();
  for (const { port, members } of byPort.values()) {
    if (members.size === 0) continue;
    const key = Array.from(members, ([own, { ready }]) => `${own} ${ready}`)
      .sort()
      .join();
    const subset = byMembers.get(key) ?? { ports: [], members };
    if (port !== undefined) subset.ports.push(port);
    byMembers.set(key, subset);
  }
  return [...byMembers.values()].map(subsetOf).sort((a, b) => compare(portsKey(a.ports), portsKey(b.ports)));
}

/** Adds an address; the first one of its key stands for all. */
function add(members: Members, addresses: Map<string, Address>, entry: Address, ready: boolean): void {
  const key = addressKey(entry);
  const address = addresses.get(key) ?? entry;
  addresses.set(key, address);
  members.set(key, { address, ready: ready && members.get(key)?.ready !== false });
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

function subsetOf({ ports, members }: { readonly ports: readonly Port[]; readonly members: Members }): Subset {
  const all = [...members].sort(([, a], [, b]) => compareAddresses(a.address, b.address)).map(([, member]) => member);
  const ready = all.filter((member) => member.ready).map(({ address }) => address);
  const notReady = all.filter((member) => !member.ready).map(({ address }) => address);
  return filled(ports.length === 0 ? {} : { ports: orderedPorts(ports, 'Endpoints') }, ready, notReady);
}

const compareAddresses = (a: Address, b: Address): number =>
  compare(a.ip ?? '', b.ip ?? '') || compare(a.targetRef?.uid ?? '', b.targetRef?.uid ?? '');

/**
 * The subsets with at most as many addresses as `Endpoints` have, ready ones first, and of each subset about the same
 * share; the subsets themselves when that holds for them.
 */
export function truncate(subsets: Subset[]): Subset[] {
  const count = (place: 'addresses' | 'notReadyAddresses') =>
    subsets.reduce((sum, subset) => sum + (subset[place]?.length ?? 0), 0);
  const [ready, notReady] = [count('addresses'), count('notReadyAddresses')];
  if (ready + notReady <= capacity) return subsets;
  const tooManyReady = ready > capacity;
  const [limit, total] = tooManyReady ? [capacity, ready] : [capacity - ready, notReady];
  let remaining = limit;
  const share = (addresses: readonly Address[] = []): Address[] => {
    const retained = addresses.slice(0, Math.min(remaining, Math.ceil((addresses.length / total) * limit)));
    remaining -= retained.length;
    return retained;
  };
  return subsets.map(({ addresses, notReadyAddresses, ...subset }) => {
    if (tooManyReady) return filled(subset, share(addresses ?? []), []);
    return filled(subset, addresses ?? [], share(notReadyAddresses ?? []));
  });
}

const filled = (subset: Subset, addresses: Address[], notReadyAddresses: Address[]): Subset => ({
  ...(addresses.length === 0 ? {} : { addresses }),
  ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
  ...subset,
});
