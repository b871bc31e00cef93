/** IPAddress objects: each reserves an address for its parent reference. */
import { at, formatIp, type IpNumber, type JsonObject, type Names } from '../meta/index.ts';
import type { Holder, Registry, Resource } from '../registry/index.ts';

/** Their field manager. */
const manager = 'apiserver';

/** The label of an IPAddress that the allocator has created. */
export const managedBy = (names: Names): readonly [key: string, value: string] => [
  `ipaddress.${names.labels}/managed-by`,
  `ipallocator.${names.domain}`,
];
export const familyLabel = (names: Names): string => `ipaddress.${names.labels}/ip-family`;

export const familyOf = ({ size }: IpNumber): 'IPv4' | 'IPv6' => (size === 32 ? 'IPv4' : 'IPv6');

/** The key and the encoded IPAddress object that assigns an address to a service. */
export function newIpAddress(registry: Registry, resource: Resource, address: IpNumber, holder: Holder) {
  const { names, storageVersion, definition } = resource;
  const [key, value] = managedBy(names);
  const object = {
    kind: definition.kind,
    apiVersion: storageVersion.apiVersion,
    metadata: { name: formatIp(address), labels: { [familyLabel(names)]: familyOf(address), [key]: value } },
    spec: { parentRef: { resource: holder.resource, namespace: holder.namespace, name: holder.name } },
  };
  return registry.newEntry(resource, object, manager);
}

/** The parent reference of an IPAddress; undefined when it is not of the core group. */
export function holderOf(object: JsonObject): Holder | undefined {
  const field = (name: string) => {
    const value = at(object, 'spec', 'parentRef', name);
    return typeof value === 'string' ? value : '';
  };
  if (field('group') !== '') return undefined;
  return { resource: field('resource'), namespace: field('namespace'), name: field('name') };
}

export const sameHolder = (a: Holder | undefined, b: Holder): boolean =>
  a?.resource === b.resource && a.namespace === b.namespace && a.name === b.name;
