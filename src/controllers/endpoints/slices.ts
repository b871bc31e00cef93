import type { Client, Index, Informer } from '../../client/index.ts';
import { isStatus, jsonEqual, type Names } from '../../meta/index.ts';
import type { EndpointSlice } from '../../types/discovery-v1.ts';
import type { Named } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import { isTerminatingNamespace, messageOf } from '../shared/pod-control.ts';
import { endpointKeys } from './labels.ts';

export type Slice = EndpointSlice & Named;
export type Endpoint = NonNullable<NonNullable<EndpointSlice['endpoints']>>[number];
export type SlicePort = NonNullable<NonNullable<EndpointSlice['ports']>>[number];

/** Slices to write. Those to create have no name yet. */
export interface SliceChanges {
  readonly create: Slice[];
  readonly update: Slice[];
  readonly remove: Slice[];
}

/** The key of the service that a slice names; undefined when this manager does not write it. */
function serviceOf({ metadata: { namespace = '', labels = {} } }: Slice, names: Names, manager: string) {
  const keys = endpointKeys(names);
  const service = labels[keys.serviceName] ?? '';
  return labels[keys.sliceManagedBy] !== manager || service === '' ? undefined : `${namespace}/${service}`;
}

/** The slices of a manager, by the key of their service. */
export const slicesByService = (slices: Informer<Slice>, names: Names, manager: string): Index<Slice> =>
  slices.indexBy(`service of ${manager}`, (slice) => {
    const key = serviceOf(slice, names, manager);
    return key === undefined ? [] : [key];
  });

/** Calls `add` with the service of each changed slice that belongs, or belonged before, to the manager. */
export function onSlices(slices: Informer<Slice>, names: Names, manager: string, add: (service: string) => void): void {
  slices.onChange((slice, old) => {
    const now = slice && serviceOf(slice, names, manager);
    const before = old && serviceOf(old, names, manager);
    if (now !== undefined) add(now);
    if (before !== undefined && before !== now) add(before);
  });
}

/** The same for endpoints that take each other's place in a slice. */
export const endpointKey = ({ addresses, hostname, targetRef }: Endpoint): string =>
  JSON.stringify([[...(addresses ?? [])].sort(), hostname ?? '', targetRef?.namespace ?? '', targetRef?.name ?? '']);

/** Whether an endpoint says what another one of its key does, hints aside. */
export function sameEndpoint(a: Endpoint, b: Endpoint): boolean {
  const facts = ({ nodeName, zone, conditions, targetRef }: Endpoint) => {
    const { resourceVersion: _, ...reference } = targetRef ?? {};
    return { nodeName: nodeName ?? null, zone: zone ?? null, conditions: { ...conditions }, reference };
  };
  return jsonEqual(facts(a) as never, facts(b) as never);
}

/** The changes with slices updated that would be deleted while others of the same address type are created. */
export function recycled({ create, update, remove }: SliceChanges, mayReuse: (slice: Slice) => boolean): SliceChanges {
  const [created, updated, removed] = [[...create], [...update], [] as Slice[]];
  for (const old of remove) {
    const i = mayReuse(old) ? created.findLastIndex(({ addressType }) => addressType === old.addressType) : -1;
    const [slice] = i < 0 ? [] : created.splice(i, 1);
    if (slice === undefined) removed.push(old);
    else updated.push({ ...slice, metadata: { ...slice.metadata, ...placeOf(old) } });
  }
  return { create: created, update: updated, remove: removed };
}

/** The name of an object, and the state on which a write of it depends. */
export const placeOf = ({ metadata: { name, resourceVersion } }: Named) => ({
  ...(name === undefined ? {} : { name }),
  ...(resourceVersion === undefined ? {} : { resourceVersion }),
});

/** Writes slices of the owner, such as `Service default/web`. Creates none when its namespace is being deleted. */
export async function writeSlices(client: Client, owner: string, changes: SliceChanges): Promise<void> {
  const failed = (verb: string, { metadata: { name = '' } }: Slice, error: unknown) =>
    new Error(`failed to ${verb} ${name}${name === '' ? '' : ' '}EndpointSlice for ${owner}: ${messageOf(error)}`, {
      cause: error,
    });
  for (const slice of changes.create) {
    try {
      await client.kind(kinds.endpointSlices).create(compact(slice));
    } catch (error) {
      if (isTerminatingNamespace(error)) return;
      throw failed('create', slice, error);
    }
  }
  for (const slice of changes.update) {
    await client
      .kind(kinds.endpointSlices)
      .update(compact(slice))
      .catch((error: unknown) => {
        throw failed('update', slice, error);
      });
  }
  for (const slice of changes.remove) {
    await client
      .kind(kinds.endpointSlices)
      .delete(slice.metadata)
      .catch((error: unknown) => {
        if (!isStatus(error, 404)) throw failed('delete', slice, error);
      });
  }
}

/** Empty lists are absent. */
function compact({ endpoints, ports, ...slice }: Slice): Slice {
  return {
    ...slice,
    ...(endpoints?.length ? { endpoints } : {}),
    ...(ports?.length ? { ports } : {}),
  };
}
