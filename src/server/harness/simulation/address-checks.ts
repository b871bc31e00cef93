import { managedBy, storedPorts } from '../../../allocation/index.ts';
import { formatIp, type Names, readIp } from '../../../meta/index.ts';
import type { Store } from '../../../store/index.ts';
import type { Invariant, RestInvariant } from './world.ts';
import type { WorldObject } from './world-state.ts';

interface Service {
  readonly metadata: WorldObject['metadata'];
  readonly spec?: {
    readonly clusterIPs?: readonly string[];
    readonly ports?: readonly { readonly nodePort?: number }[];
    readonly healthCheckNodePort?: number;
  };
}

interface Address {
  readonly metadata: WorldObject['metadata'];
  readonly spec?: { readonly parentRef?: { readonly [field: string]: string | undefined } };
}

const nameOf = ({ metadata: { namespace, name } }: Pick<WorldObject, 'metadata'>): string => `${namespace}/${name}`;

const addressesOf = ({ spec }: Service): string[] =>
  (spec?.clusterIPs ?? []).flatMap((text) => {
    const address = readIp(text);
    return address === undefined ? [] : formatIp(address);
  });

const portsOf = ({ spec }: Service): number[] => {
  const ports = [...(spec?.ports ?? []).map(({ nodePort }) => nodePort), spec?.healthCheckNodePort];
  return [...new Set(ports.filter((port) => port !== undefined && port !== 0))] as number[];
};

/** The allocations of a service: addresses as texts, node ports as numbers. */
const held = (service: Service): readonly (string | number)[] => [...addressesOf(service), ...portsOf(service)];

/** No two services have the same cluster IP or node port. */
export const holdersAreUnique: Invariant = (state, { resource, after }) => {
  if (resource !== 'services' || after === undefined) return;
  const own = new Set(held(after as unknown as Service));
  for (const other of state.list('services') as unknown as readonly Service[]) {
    if (other.metadata.uid === after.metadata.uid) continue;
    const shared = held(other).find((value) => own.has(value));
    if (shared !== undefined) return `${shared} is that of ${nameOf(other)} and of ${nameOf(after)}`;
  }
  return;
};

/** Each cluster IP of a service has its IPAddress, each node port its bit, and there are no others. */
export const allocationsAgree =
  (names: Names, store: Store): RestInvariant =>
  async (state) => {
    const services = state.list('services') as unknown as readonly Service[];
    const holders = new Map(services.flatMap((service) => held(service).map((value) => [value, nameOf(service)])));
    const [label, manager] = managedBy(names);
    const unallocated = new Set(holders.keys());
    for (const address of state.list(`ipaddresses.networking.${names.domain}`) as unknown as readonly Address[]) {
      const { name = '', labels } = address.metadata;
      const { namespace = '', name: parent = '' } = address.spec?.parentRef ?? {};
      const holder = holders.get(name);
      if (holder === undefined && labels?.[label] !== manager) continue;
      if (holder !== `${namespace}/${parent}`) {
        return `${name} is allocated to ${namespace}/${parent}, but is that of ${holder ?? 'no service'}`;
      }
      unallocated.delete(name);
    }
    for (const port of await storedPorts(store)) {
      if (!holders.has(port)) return `the node port ${port} is allocated, but that of no service`;
      unallocated.delete(port);
    }
    const [missing] = unallocated;
    return missing === undefined ? undefined : `${missing} of ${holders.get(missing)} is not allocated`;
  };
