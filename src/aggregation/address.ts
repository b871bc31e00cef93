/** The addresses of Services that serve API groups. */
import type { Service } from '../types/core-v1.ts';
import type { EndpointSlice } from '../types/discovery-v1.ts';

/** The Service that an APIService names, and how its certificate is verified. */
export interface RemoteService {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  /** The CA bundle in PEM; empty: the certificates that the system trusts. */
  readonly ca: string;
  /** Whether its certificate is verified. */
  readonly verify: boolean;
}

/** Where a server listens. */
export interface Address {
  /** An IP address or a host name. */
  readonly host: string;
  readonly port: string;
}

/** The cluster IP of a Service or its external name, with the port of the APIService. @throws Error */
export function clusterAddress({ metadata, spec = {} }: Service, port: number): Address {
  const { type = 'ClusterIP', clusterIP = '', externalName = '', ports } = spec;
  if (type === 'ExternalName') return { host: externalName, port: String(port) };
  if (clusterIP === 'None' || clusterIP === '') {
    throw new Error(`cannot route to service with ClusterIP ${JSON.stringify(clusterIP)}`);
  }
  if (!ports?.some((one) => one.port === port)) throw noSuchPort(metadata?.name, port);
  return { host: clusterIP, port: String(port) };
}

/** The DNS name of a Service, which reaches those that are not objects of this server. */
export const serviceHost = (namespace: string, name: string, port: number): Address => ({
  host: `${name}.${namespace}.svc`,
  port: String(port),
});

/** The address of one of the ready endpoints of a Service, chosen by `pick`. @throws Error */
export function endpointAddress(
  service: Service,
  slices: readonly EndpointSlice[],
  port: number,
  pick: (count: number) => number,
): Address {
  const { metadata, spec = {} } = service;
  if (spec.type === 'ExternalName') return clusterAddress(service, port);
  const servicePort = spec.ports?.find((one) => one.port === port);
  if (servicePort === undefined) throw noSuchPort(metadata?.name, port);
  const addresses = readyAddresses(slices, servicePort.name ?? '');
  const address = addresses[addresses.length > 1 ? pick(addresses.length) : 0];
  if (address === undefined) throw new Error(`no endpoints available for service ${JSON.stringify(metadata?.name)}`);
  return address;
}

/** The addresses of ready endpoints that have a port of this name. */
export function readyAddresses(slices: readonly EndpointSlice[], portName: string): Address[] {
  return slices.flatMap(({ endpoints, ports }) => {
    const port = ports?.find(({ name }) => (name ?? '') === portName);
    if (port === undefined) return [];
    const ready = endpoints?.filter(({ conditions }) => conditions?.ready !== false) ?? [];
    return ready.flatMap(({ addresses }) => (addresses ?? []).map((host) => ({ host, port: String(port.port ?? '') })));
  });
}

const noSuchPort = (name: string | undefined, port: number): Error =>
  new Error(`no service port ${port} found for service ${JSON.stringify(name ?? '')}`);
