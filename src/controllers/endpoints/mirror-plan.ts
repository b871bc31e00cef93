import { formatIp, jsonEqual, type Names, readIp } from '../../meta/index.ts';
import type { Endpoints as EndpointsSchema } from '../../types/core-v1.ts';
import type { Named } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import { controllerReference } from '../shared/owners.ts';
import { namePrefix } from '../shared/pod-control.ts';
import { endpointKeys } from './labels.ts';
import { orderedPorts, portsKey } from './ports.ts';
import {
  type Endpoint,
  endpointKey,
  placeOf,
  type Slice,
  type SliceChanges,
  type SlicePort,
  sameEndpoint,
} from './slices.ts';
import { repack, type Subset } from './subsets.ts';

export type Endpoints = EndpointsSchema & Named;

/** The most addresses of a subset that are mirrored. */
export const mirroredAddresses = 1000;

interface MirrorPlan {
  readonly changes: SliceChanges;
  /** The number of addresses that are not IP addresses. */
  readonly invalid: number;
  /** Addresses that are left out for any reason. */
  readonly skipped: number;
}

/** The endpoints of a subset of one address type: a slice. */
interface Group {
  readonly addressType: string;
  readonly ports: SlicePort[];
  readonly endpoints: Map<string, Endpoint>;
}

const groupKey = (addressType: string | undefined, ports: readonly SlicePort[] | null | undefined): string =>
  `${addressType} ${portsKey(ports)}`;

/** The changes that make the slices a mirror of the endpoints: one for each subset and address type. */
export function planMirror(names: Names, endpoints: Endpoints, existing: readonly Slice[]): MirrorPlan {
  const groups = new Map<string, Group>();
  let [invalid, skipped] = [0, 0];
  for (const subset of repack(endpoints.subsets ?? [])) {
    const omitted = addSubset(groups, subset);
    invalid += omitted.invalid;
    skipped += omitted.skipped;
  }
  const changes: SliceChanges = { create: [], update: [], remove: [] };
  const byGroup = new Map<string, Slice>();
  for (const slice of existing) {
    const key = groupKey(slice.addressType, slice.ports);
    if (groups.has(key) && !byGroup.has(key)) byGroup.set(key, slice);
    else changes.remove.push(slice);
  }
  for (const [key, group] of groups) {
    const slice = byGroup.get(key);
    const mirror = mirrorOf(names, endpoints, group, slice);
    if (slice === undefined) changes.create.push(mirror);
    else if (!isMirror(slice, mirror)) changes.update.push(mirror);
  }
  return { changes, invalid, skipped };
}

/** Adds the endpoints of a subset to the groups. */
function addSubset(
  groups: Map<string, Group>,
  { addresses, notReadyAddresses, ports }: Subset,
): { readonly invalid: number; readonly skipped: number } {
  const own = (ports ?? []).map(({ name = '', port = 0, protocol = 'TCP', appProtocol }) => ({
    name,
    port,
    protocol,
    ...(appProtocol == null ? {} : { appProtocol }),
  }));
  let [added, invalid] = [0, 0];
  for (const [list, ready] of [[addresses ?? [], true] as const, [notReadyAddresses ?? [], false] as const]) {
    for (const { ip = '', hostname = '', nodeName, targetRef } of list) {
      if (added >= mirroredAddresses) break;
      const address = readIp(ip);
      if (address === undefined) {
        invalid++;
        continue;
      }
      added++;
      const endpoint: Endpoint = {
        addresses: [formatIp(address)],
        conditions: { ready },
        ...(hostname === '' ? {} : { hostname }),
        ...(targetRef == null ? {} : { targetRef }),
        ...(nodeName == null ? {} : { nodeName }),
      };
      const addressType = address.size === 128 ? 'IPv6' : 'IPv4';
      const key = groupKey(addressType, own);
      const group = groups.get(key) ?? { addressType, ports: orderedPorts(own, 'EndpointSlice'), endpoints: new Map() };
      groups.set(key, group);
      group.endpoints.set(endpointKey(endpoint), endpoint);
    }
  }
  return { invalid, skipped: (addresses?.length ?? 0) + (notReadyAddresses?.length ?? 0) - added };
}

/** The slice of a group, in the place of an existing one. */
function mirrorOf(names: Names, endpoints: Endpoints, group: Group, slice: Slice | undefined): Slice {
  const keys = endpointKeys(names);
  const { namespace = '', name = '', labels, annotations: all } = endpoints.metadata;
  const { [keys.triggerTime]: _, [keys.lastApplied]: __, ...annotations } = all ?? {};
  return {
    metadata: {
      namespace,
      ...(slice === undefined ? { generateName: namePrefix(name) } : placeOf(slice)),
      labels: { ...labels, [keys.serviceName]: name, [keys.sliceManagedBy]: keys.mirroringController },
      annotations,
      ownerReferences: [controllerReference(kinds.endpoints, endpoints, names)],
    },
    addressType: group.addressType,
    ports: group.ports,
    endpoints: [...group.endpoints.values()],
  };
}

/** Whether the slice says what its mirror would; endpoints may be in another order. */
function isMirror(slice: Slice, mirror: Slice): boolean {
  const desired = new Map((mirror.endpoints ?? []).map((endpoint) => [endpointKey(endpoint), endpoint]));
  const endpoints = slice.endpoints ?? [];
  const owners = ({ metadata }: Slice) => (metadata.ownerReferences ?? []).map(({ uid }) => uid).join();
  return (
    endpoints.length === desired.size &&
    endpoints.every((endpoint) => {
      const desiredEndpoint = desired.get(endpointKey(endpoint));
      return desiredEndpoint !== undefined && sameEndpoint(desiredEndpoint, endpoint);
    }) &&
    jsonEqual(slice.metadata.labels, mirror.metadata.labels) &&
    jsonEqual(slice.metadata.annotations ?? {}, mirror.metadata.annotations) &&
    owners(slice) === owners(mirror)
  );
}
