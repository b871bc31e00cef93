import { ipAddress, StatusError, statusError } from '../../meta/index.ts';
import type { Connect, ConnectCall, Endpoint } from '../../registry/index.ts';
import type { ObjectOf } from '../define.ts';
import type { Endpoints, Node, Service } from '../types/core-v1.ts';
import type { PodObject } from './pod-object.ts';

/** Addresses of a node by how well they serve to reach its agent. */
const preferred = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];
const agentPort = 10_250;

/** The agent of a node. @throws StatusError 404, 500 */
export async function agentOf(
  { objects }: ConnectCall,
  name: string,
): Promise<Pick<Endpoint, 'host' | 'port' | 'scheme'>> {
  const { status = {} } = (await objects.get('nodes', '', name)) as unknown as ObjectOf<typeof Node>;
  const addresses = status.addresses ?? [];
  const found = preferred.flatMap((type) => addresses.find((address) => address.type === type)?.address ?? []);
  const [host] = found;
  if (host === undefined) {
    throw new StatusError(
      500,
      '',
      `no preferred addresses found; known addresses: [${addresses.map(({ address }) => address).join(' ')}]`,
    );
  }
  return { scheme: 'https', host, port: String(status.daemonEndpoints?.kubeletEndpoint?.Port || agentPort) };
}

/** A name as proxies take it: `web`, `web:8443`, `https:web:8443`. */
interface SpelledName {
  readonly scheme: 'http' | 'https';
  readonly name: string;
  /** A number or a name; empty: any. */
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

/** Loopback, link-local and the like lead to the server's own machine. */
const isOwnAddress = (host: string): boolean =>
  /^(?:localhost\.?|0\..*|127\..*|169\.254\..*|2(?:2[4-9]|3\d)\..*|255\.255\.255\.255|::1?|fe[89ab].*|ff.*|::ffff:.*)$/i.test(
    host,
  );

function checkAddress(host: string): void {
  if (host === '' || isOwnAddress(host)) throw statusError.badRequest('address not allowed');
}

export const proxyPod: Connect = async (call) => {
  const { namespace, objects } = call;
  const { scheme, name, port } = readName(call.name, 'pod');
  const { spec = {}, status = {} } = (await objects.get('pods', namespace, name)) as unknown as PodObject;
  const host = status.podIPs?.[0]?.ip ?? status.podIP ?? '';
  if (ipAddress(host).length > 0) throw statusError.badRequest('address not allowed');
  checkAddress(host);
  const own = spec.containers?.find(({ ports = [] }) => ports.length > 0)?.ports?.[0]?.containerPort;
  return { scheme, host, port: port || String(own ?? ''), path: '' };
};

export const proxyNode: Connect = async (call) => {
  const { scheme, name, port } = readName(call.name, 'node');
  const agent = await agentOf(call, name);
  if (port === '' || port === agent.port) return { ...agent, path: '' };
  checkAddress(agent.host);
  return { scheme, host: agent.host, port, path: '' };
};

export const proxyService: Connect = async (call) => {
  const { namespace, objects } = call;
  const { scheme, name, port } = readName(call.name, 'service');
  let portName = port;
  if (/^-?\d+$/.test(port)) {
    const service = (await objects.get('services', namespace, name)) as unknown as ObjectOf<typeof Service>;
    const found = service.spec?.ports?.find((candidate) => candidate.port === Number(port));
    if (found === undefined) {
      throw statusError.unavailable(`no service port ${port} found for service ${JSON.stringify(name)}`);
    }
    portName = found.name ?? '';
  }
  const { subsets = [] } = (await objects.get('endpoints', namespace, name)) as unknown as ObjectOf<typeof Endpoints>;
  for (const { addresses = [], ports = [] } of subsets) {
    const target = ports.find(({ name: own = '' }) => own === portName);
    const host = addresses[0]?.ip;
    if (target === undefined || host === undefined) continue;
    checkAddress(host);
    return { scheme, host, port: String(target.port ?? ''), path: '' };
  }
  throw statusError.unavailable(
    `no endpoints available for service ${JSON.stringify(subsets.length === 0 ? name : call.name)}`,
  );
};
