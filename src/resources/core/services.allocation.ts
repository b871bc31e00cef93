/** Allocation of cluster IPs, from the allocators `IPv4` and `IPv6`, and of node ports, from `nodePorts`. */
import { errorsNow, type FieldError, fieldError, fieldErrors, StatusError, statusError } from '../../meta/index.ts';
import type { Allocator } from '../../registry/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { ServicePort, ServiceSpec } from '../../types/core-v1.ts';
import { familyOf } from '../shared/addresses.ts';
import { hasClusterIp, hasNodePorts, isHeadless, needsHealthPort } from './services.defaults.ts';
import { chooseFamilies, keepsFamilies } from './services.ip-families.ts';

type Pools = ReadonlyMap<string, Allocator>;
type Port = Infer<typeof ServicePort>;

/** Allocates what a service needs, sets it in the spec, and releases what the service no longer needs. */
export async function allocateForService(
  spec: ServiceSpec | undefined,
  old: ServiceSpec | undefined,
  pools: Pools,
): Promise<FieldError[]> {
  if (spec === undefined) {
    if (old !== undefined) await giveAllBack(old, pools);
    return [];
  }
  const families = [...pools.keys()].filter((name) => name === 'IPv4' || name === 'IPv6');
  const unfit = [...fieldErrors(() => errorsNow(chooseFamilies(spec, old, families)))];
  if (unfit.length > 0) return unfit;
  const refused = keepsFamilies(spec, old) ? [] : await claimAddresses(spec, old, pools);
  return refused.length > 0 ? refused : claimPorts(spec, old, pools.get('nodePorts'));
}

const addressesOf = (spec: ServiceSpec): readonly string[] =>
  hasClusterIp(spec) && !isHeadless(spec) ? (spec.clusterIPs ?? []) : [];

async function giveAllBack(old: ServiceSpec, pools: Pools): Promise<void> {
  await giveAddressesBack(addressesOf(old), pools);
  const health = needsHealthPort(old) ? (old.healthCheckNodePort ?? 0) : 0;
  await givePortsBack([...portsOf(old), health], pools.get('nodePorts'));
}

async function giveAddressesBack(addresses: readonly string[], pools: Pools): Promise<void> {
  for (const address of addresses) await pools.get(familyOf(address) ?? '')?.release(address);
}

async function givePortsBack(ports: readonly number[], pool: Allocator | undefined): Promise<void> {
  for (const port of new Set(ports)) if (port !== 0) await pool?.release(String(port));
}

async function claimAddresses(spec: ServiceSpec, old: ServiceSpec | undefined, pools: Pools): Promise<FieldError[]> {
  if (old === undefined || !hasClusterIp(old)) return takeAddresses(spec, 0, pools);
  if (isHeadless(old)) return [];
  if (!hasClusterIp(spec)) await giveAddressesBack(addressesOf(old), pools);
  else if (old.ipFamilies?.length === 1 && spec.ipFamilies?.length === 2) return takeAddresses(spec, 1, pools);
  else if (old.ipFamilies?.length === 2 && spec.ipFamilies?.length === 1) {
    await giveAddressesBack((old.clusterIPs ?? []).slice(1), pools);
  }
  return [];
}

/** Allocates a cluster IP for each family from index `first` on: the requested one, or any. */
async function takeAddresses(spec: ServiceSpec, first: number, pools: Pools): Promise<FieldError[]> {
  if (!hasClusterIp(spec) || isHeadless(spec)) return [];
  const { ipFamilies = [] } = spec;
  const addresses = [...(spec.clusterIPs ?? [])];
  for (const [i, family] of ipFamilies.entries()) {
    const pool = pools.get(family);
    if (i < first || pool === undefined) continue;
    const address = addresses[i] ?? '';
    const why = address === '' ? undefined : await pool.allocate(address);
    if (why !== undefined) {
      return [fieldError.invalid('spec.clusterIPs', [...addresses], `failed to allocate IP ${address}: ${why}`)];
    }
    if (address === '') addresses[i] = (await pool.allocateNext()) ?? exhausted('failed to allocate a serviceIP');
  }
  spec.clusterIPs = addresses;
  if (addresses[0] !== undefined) spec.clusterIP = addresses[0];
  return [];
}

function exhausted(what: string): never {
  throw statusError.internal(`${what}: range is full`);
}

const portsOf = ({ ports = [] }: ServiceSpec): number[] =>
  ports.map(({ nodePort = 0 }) => nodePort).filter((port) => port !== 0);

async function claimPorts(spec: ServiceSpec, old: ServiceSpec | undefined, pool: Allocator | undefined) {
  if (pool === undefined) return [];
  let refused: FieldError[] = [];
  if (hasNodePorts(spec))
    refused = old === undefined ? await takePorts(spec, pool) : await changePorts(spec, old, pool);
  else if (old !== undefined && hasNodePorts(old)) await givePortsBack(portsOf(old), pool);
  if (refused.length > 0) return refused;
  const [needs, needed] = [needsHealthPort(spec), old !== undefined && needsHealthPort(old)];
  if (needs && !needed) await takeHealthPort(spec, pool);
  if (needed && !needs) await givePortsBack([old?.healthCheckNodePort ?? 0], pool);
  return [];
}

const allocates = ({ type, allocateLoadBalancerNodePorts: balanced }: ServiceSpec): boolean =>
  type === 'NodePort' || balanced !== false;

const anyPort = async (pool: Allocator): Promise<number> =>
  Number((await pool.allocateNext()) ?? exhausted('failed to allocate a nodePort'));

/** Allocates the requested node port of a service port unless the service has it already. */
async function takeGiven(port: number, i: number, pool: Allocator): Promise<FieldError[]> {
  const why = await pool.allocate(String(port));
  return why === undefined ? [] : [fieldError.invalid(`spec.ports[${i}].nodePort`, port, why)];
}

/** Allocates the node ports of a new service. Ports with the same number share a node port, whatever their protocol. */
async function takePorts(spec: ServiceSpec, pool: Allocator): Promise<FieldError[]> {
  const { ports = [] } = spec;
  const assignedPorts = givenNodePorts(ports);
  const sharedPorts = new Map<number, number>();
  for (const [i, entry] of ports.entries()) {
    const { port = 0, nodePort = 0 } = entry;
    if (nodePort === 0 && !allocates(spec)) continue;
    const shared = sharedPorts.get(port);
    const requestedPort = shared === undefined ? (assignedPorts.get(port) ?? 0) : nodePort;
    if (requestedPort !== 0 && requestedPort !== shared) {
      const refused = await takeGiven(requestedPort, i, pool);
      if (refused.length > 0) return refused;
    }
    entry.nodePort = requestedPort !== 0 ? requestedPort : (shared ?? (await anyPort(pool)));
    if (shared === undefined) sharedPorts.set(port, entry.nodePort);
  }
  return [];
}

/** The first requested node port by port number. */
function givenNodePorts(ports: readonly Port[]): ReadonlyMap<number, number> {
  const assignedPorts = new Map<number, number>();
  for (const { port = 0, nodePort = 0 } of ports)
    if (nodePort !== 0 && !assignedPorts.has(port)) assignedPorts.set(port, nodePort);
  return assignedPorts;
}

async function changePorts(spec: ServiceSpec, old: ServiceSpec, pool: Allocator): Promise<FieldError[]> {
  const had = new Set(hasNodePorts(old) ? portsOf(old) : []);
  const usedPorts = new Set<number>();
  const pairs = new Set<string>();
  for (const [i, entry] of (spec.ports ?? []).entries()) {
    const { nodePort: given = 0, protocol = 'TCP' } = entry;
    if (given === 0 && !allocates(spec)) continue;
    if (given !== 0 && !had.has(given) && !usedPorts.has(given)) {
      const refused = await takeGiven(given, i, pool);
      if (refused.length > 0) return refused;
      usedPorts.add(given);
    }
    entry.nodePort = given === 0 ? await anyPort(pool) : given;
    const pair = `{${protocol} ${entry.nodePort}}`;
    if (pairs.has(pair)) throw new StatusError(500, '', `duplicate nodePort: ${pair}`);
    pairs.add(pair);
  }
  const retainedPorts = new Set(portsOf(spec));
  await givePortsBack(
    [...had].filter((port) => !retainedPorts.has(port)),
    pool,
  );
  return [];
}

async function takeHealthPort(spec: ServiceSpec, pool: Allocator): Promise<void> {
  const { healthCheckNodePort: requestedPort = 0 } = spec;
  if (requestedPort === 0) {
    const allocatedPort = (await pool.allocateNext()) ?? exhausted('failed to allocate a HealthCheck NodePort 0');
    spec.healthCheckNodePort = Number(allocatedPort);
    return;
  }
  const why = await pool.allocate(String(requestedPort));
  if (why !== undefined) {
    throw statusError.internal(`failed to allocate requested HealthCheck NodePort ${requestedPort}: ${why}`);
  }
}
