import { jsonEqual, type Names } from '../../meta/index.ts';
import type { Node as NodeSchema } from '../../types/core-v1.ts';
import type { Named } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import { controllerReference } from '../shared/owners.ts';
import { namePrefix } from '../shared/pod-control.ts';
import { isReady, type Pod } from '../shared/pods.ts';
import { endpointKeys } from './labels.ts';
import { orderedPorts, portsKey } from './ports.ts';
import {
  addressesOf,
  hostnameOf,
  isHeadless,
  isReachable,
  referenceTo,
  type Service,
  targetPortOf,
} from './services.ts';
import { type Endpoint, endpointKey, type Slice, type SliceChanges, type SlicePort, sameEndpoint } from './slices.ts';

export type Node = NodeSchema & Named;

/** The most endpoints of a slice. */
const sliceSize = 100;

interface PlanInput {
  readonly names: Names;
  readonly service: Service;
  /** The pods that the service selects. */
  readonly pods: readonly Pod[];
  /** The slices of the service of this family. */
  readonly existing: readonly Slice[];
  /** `IPv4` or `IPv6`, which is also the address type of the slices. */
  readonly family: string;
  readonly nodeOf: (pod: Pod) => Node | undefined;
}

export interface Plan {
  readonly changes: SliceChanges;
  readonly unchanged: readonly Slice[];
  /** Pods that are left out because their node is not known. */
  readonly withoutNode: readonly Pod[];
}

/** The endpoints of the pods on which the ports of a service lead to the same ports. */
interface Group {
  readonly ports: SlicePort[];
  readonly endpoints: Map<string, Endpoint>;
}

/** The changes that bring the slices of a service to its pods, with few writes. */
export function planSlices(input: PlanInput): Plan {
  const { existing } = input;
  const withoutNode: Pod[] = [];
  const groups = groupsOf(input, withoutNode);
  const changes: SliceChanges = { create: [], update: [], remove: [] };
  const byPorts = new Map<string, Slice[]>();
  for (const slice of existing) {
    const key = portsKey(slice.ports);
    if (isOwned(slice, input.service) && groups.has(key)) byPorts.set(key, [...(byPorts.get(key) ?? []), slice]);
    else changes.remove.push(slice);
  }
  for (const [key, { ports, endpoints }] of groups) {
    pack(changes, byPorts.get(key) ?? [], endpoints, sliceLabels(input), () => blank(input, ports));
  }
  const { create, remove } = changes;
  if (existing.length === remove.length && create.length === 0) {
    const [only, ...others] = remove;
    // A service without endpoints has one slice.
    if (only !== undefined && others.length === 0 && isEmptySlice(only, input)) remove.length = 0;
    else create.push(blank(input, []));
  }
  const changed = new Set([...changes.update, ...remove].map(({ metadata }) => metadata.name));
  return { changes, unchanged: existing.filter(({ metadata }) => !changed.has(metadata.name)), withoutNode };
}

export const isOwned = ({ metadata }: Slice, { metadata: { uid } }: Service): boolean =>
  (metadata.ownerReferences ?? []).some(
    (owner) => owner.uid === uid && owner.kind === 'Service' && owner.apiVersion === 'v1',
  );

const isEmptySlice = (slice: Slice, input: PlanInput): boolean =>
  isOwned(slice, input.service) &&
  (slice.endpoints ?? []).length === 0 &&
  (slice.ports ?? []).length === 0 &&
  jsonEqual(slice.metadata.labels, sliceLabels(input));

function groupsOf({ service, pods, family, names, nodeOf }: PlanInput, withoutNode: Pod[]): Map<string, Group> {
  const groups = new Map<string, Group>();
  const { zone: zoneLabel } = endpointKeys(names);
  for (const pod of pods) {
    if (!isReachable(pod)) continue;
    const ports = portsOf(service, pod);
    const key = portsKey(ports);
    const group = groups.get(key) ?? { ports: orderedPorts(ports, 'EndpointSlice'), endpoints: new Map() };
    groups.set(key, group);
    const node = nodeOf(pod);
    if (node === undefined && service.spec?.publishNotReadyAddresses !== true) {
      withoutNode.push(pod);
      continue;
    }
    const endpoint = endpointOf(service, pod, family, node?.metadata.labels?.[zoneLabel] ?? '');
    if (endpoint.addresses?.length) group.endpoints.set(endpointKey(endpoint), endpoint);
  }
  return groups;
}

function portsOf({ spec }: Service, pod: Pod): SlicePort[] {
  return (spec?.ports ?? []).flatMap((servicePort) => {
    const port = targetPortOf(pod, servicePort);
    if (port === undefined) return [];
    const { name = '', protocol = 'TCP', appProtocol } = servicePort;
    return [{ name, port, protocol, ...(appProtocol == null ? {} : { appProtocol }) }];
  });
}

function endpointOf(service: Service, pod: Pod, family: string, zone: string): Endpoint {
  const serving = isReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  const { nodeName = '' } = pod.spec ?? {};
  return {
    addresses: addressesOf(pod, family),
    conditions: { ready, serving, terminating },
    ...hostnameOf(pod, service),
    targetRef: referenceTo(pod),
    ...(nodeName === '' ? {} : { nodeName }),
    ...(zone === '' ? {} : { zone }),
  };
}

/** The labels of the service, and those that identify its slices. */
function sliceLabels({ service, names }: PlanInput): { [key: string]: string } {
  const keys = endpointKeys(names);
  const { [keys.headless]: _, ...labels } = service.metadata.labels ?? {};
  return {
    ...labels,
    ...(isHeadless(service) ? { [keys.headless]: '' } : {}),
    [keys.serviceName]: service.metadata.name ?? '',
    [keys.sliceManagedBy]: keys.sliceController,
  };
}

function blank(input: PlanInput, ports: SlicePort[]): Slice {
  const { service, family, names } = input;
  const { namespace = '', name = '' } = service.metadata;
  return {
    metadata: {
      namespace,
      generateName: namePrefix(name),
      labels: sliceLabels(input),
      ownerReferences: [controllerReference(kinds.services, service, names)],
    },
    addressType: family,
    endpoints: [],
    ports,
  };
}

/**
 * Adds the changes that bring slices with the same ports to the wanted endpoints. Slices that change anyway are filled
 * first; new ones are made until another slice has room for all that are left.
 */
function pack(
  { create, update, remove }: SliceChanges,
  existing: readonly Slice[],
  desired: Map<string, Endpoint>,
  labels: { readonly [key: string]: string },
  make: () => Slice,
): void {
  const unchanged: Slice[] = [];
  const changed: Slice[] = [];
  for (const slice of existing) {
    const retained = keep(slice, desired);
    if (retained.changed && retained.endpoints.length === 0) remove.push(slice);
    else if (retained.changed) changed.push(withEndpoints(slice, retained.endpoints, labels));
    else if (!jsonEqual(slice.metadata.labels, labels))
      changed.push(withEndpoints(slice, slice.endpoints ?? [], labels));
    else unchanged.push(slice);
  }
  changed.sort((a, b) => sizeOf(b) - sizeOf(a));
  for (const slice of changed) {
    fill(slice, desired);
    update.push(slice);
  }
  while (desired.size > 0) {
    const room = desired.size < sliceSize ? closestToFull(unchanged, desired.size) : undefined;
    const slice = room === undefined ? make() : withEndpoints(room, room.endpoints ?? [], labels);
    fill(slice, desired);
    (room === undefined ? create : update).push(slice);
  }
}

const sizeOf = ({ endpoints }: Slice): number => endpoints?.length ?? 0;

/** The desired endpoints that the slice has; removes them from `desired`. */
function keep(slice: Slice, desired: Map<string, Endpoint>): { endpoints: Endpoint[]; changed: boolean } {
  const endpoints: Endpoint[] = [];
  let changed = false;
  for (const endpoint of slice.endpoints ?? []) {
    const key = endpointKey(endpoint);
    const desiredEndpoint = desired.get(key);
    changed ||= desiredEndpoint === undefined || !sameEndpoint(desiredEndpoint, endpoint);
    if (desiredEndpoint !== undefined) endpoints.push(desiredEndpoint);
    desired.delete(key);
  }
  return { endpoints, changed };
}

const withEndpoints = (
  slice: Slice,
  endpoints: readonly Endpoint[],
  labels: { readonly [key: string]: string },
): Slice => ({ ...slice, metadata: { ...slice.metadata, labels: { ...labels } }, endpoints: [...endpoints] });

/** Moves wanted endpoints to the slice until it is full. */
function fill(slice: Slice, desired: Map<string, Endpoint>): void {
  const endpoints = slice.endpoints ?? [];
  for (const [key, endpoint] of desired) {
    if (endpoints.length >= sliceSize) return;
    endpoints.push(endpoint);
    desired.delete(key);
  }
}

function closestToFull(slices: readonly Slice[], added: number): Slice | undefined {
  let closest: Slice | undefined;
  for (const slice of slices) {
    if (sizeOf(slice) + added > sliceSize) continue;
    if (closest === undefined || sizeOf(slice) > sizeOf(closest)) closest = slice;
  }
  return closest;
}
