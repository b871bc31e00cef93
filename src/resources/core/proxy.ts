import { ipAddress, StatusError, statusError } from '../../meta/index.ts';
import type { ConnectCall, Connection, Endpoint } from '../../registry/index.ts';
import {
  Endpoints,
  Node,
  NodeProxyOptions,
  Pod,
  PodProxyOptions,
  Service,
  ServiceProxyOptions,
} from '../../types/core-v1.ts';

const kubeletPort = 10_250;

/** The endpoint of the kubelet of a node. @throws StatusError 404, 500 */
export async function kubeletOf({ objects, nodeAddresses }: ConnectCall, name: string): Promise<Endpoint> {
  const { status = {} } = await objects.read(Node, '', name);
  const addresses = status.addresses ?? [];
  const [host] = nodeAddresses.flatMap(
    (addressType) => addresses.find(({ type }) => type === addressType)?.address ?? [],
  );
  if (host === undefined) {
    const addressText = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
    throw new StatusError(500, '', `no preferred addresses found; known addresses: [${addressText}]`);
  }
  const port = String(status.daemonEndpoints?.kubeletEndpoint?.Port || kubeletPort);
  return { scheme: 'https', host, port, path: '', peer: 'kubelet' };
}

/** A name in a proxy path: `web`, `web:8443`, `https:web:8443`. */
interface SpelledName {
  readonly scheme: 'http' | 'https';
  readonly name: string;
  /** Port number or name; empty: any. */
  readonly port: string;
}

function readName(text: string, what: string): SpelledName {
  const parts = text.split(':');
  const [scheme, name, port] = parts.length === 3 ? parts : ['', ...parts];
  if (parts.length > 3 || !name || !/^(?:https?)?$/.test(scheme ?? '')) {
    throw statusError.badRequest(`invalid ${what} request ${JSON.stringify(text)}`);
  }
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port: port ?? '' };
}

export const proxyPod: Connection = {
  answers: 'proxy',
  options: PodProxyOptions,
  async locate({ namespace, objects, name: spelled }) {
    const { scheme, name, port } = readName(spelled, 'pod');
    const { spec = {}, status = {} } = await objects.read(Pod, namespace, name);
    const host = status.podIPs?.[0]?.ip ?? '';
    if (ipAddress(host).length > 0) throw statusError.badRequest('address not allowed');
    const own = spec.containers?.find(({ ports = [] }) => ports.length > 0)?.ports?.[0]?.containerPort;
    return { scheme, host, port: port || String(own ?? ''), path: '', peer: 'anyone' };
  },
};

export const proxyNode: Connection = {
  answers: 'proxy',
  options: NodeProxyOptions,
  async locate(call) {
    const { scheme, name, port } = readName(call.name, 'node');
    const kubelet = await kubeletOf(call, name);
    return port === '' || port === kubelet.port ? kubelet : { ...kubelet, scheme, port, peer: 'anyone' };
  },
};

export const proxyService: Connection = {
  answers: 'proxy',
  options: ServiceProxyOptions,
  async locate(call) {
    const { namespace, objects, random } = call;
    const { scheme, name, port } = readName(call.name, 'service');
    const portName = /^[+-]?\d+$/.test(port) ? await nameOfPort(call, name, Number(port)) : port;
    const none = (which: string) =>
      statusError.unavailable(`no endpoints available for service ${JSON.stringify(which)}`);
    const { subsets = [] } = await objects.read(Endpoints, namespace, name);
    if (subsets.length === 0) throw none(name);
    for (const { addresses = [], ports = [] } of rotatedRandomly(subsets, random)) {
      const target = ports.find(({ name: own = '' }) => own === portName);
      if (target === undefined) continue;
      for (const { ip = '', targetRef } of rotatedRandomly(addresses, random)) {
        if (!(await isPodAt(call, ip, targetRef))) continue;
        return { scheme, host: ip, port: String(target.port), path: '', peer: 'anyone' };
      }
    }
    throw none(call.name);
  },
};

async function nameOfPort({ namespace, objects }: ConnectCall, name: string, port: number): Promise<string> {
  const service = await objects.read(Service, namespace, name);
  const servicePort = service.spec?.ports?.find((candidate) => candidate.port === port);
  if (servicePort !== undefined) return servicePort.name ?? '';
  throw statusError.unavailable(`no service port ${port} found for service ${JSON.stringify(name)}`);
}

/** All entries in order, starting at a random one. */
function rotatedRandomly<T>(all: readonly T[], random: ConnectCall['random']): readonly T[] {
  if (all.length < 2) return all;
  const start = random.integer(all.length);
  return [...all.slice(start), ...all.slice(0, start)];
}

/**
 * Whether an address belongs to a pod of the same namespace: endpoints with other addresses could lead anywhere, for
 * whoever may write them.
 */
async function isPodAt(
  { namespace, objects }: ConnectCall,
  ip: string,
  target: { readonly namespace?: string; readonly name?: string } | undefined | null,
): Promise<boolean> {
  if (target?.namespace !== namespace || !target.name) return false;
  try {
    const { status = {} } = await objects.read(Pod, namespace, target.name);
    return status.podIPs?.some((address) => address.ip === ip) ?? false;
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) return false;
    throw error;
  }
}
