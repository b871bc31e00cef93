/** The objects that say whose an address is. */
import { at, formatIp, type IpNumber, type JsonObject, type Names } from '../meta/index.ts';
import type { Holder, Registry, Resource } from '../registry/index.ts';

/** Who writes them, as their managed fields tell. */
const manager = 'apiserver';

export const managedBy = (names: Names): readonly [key: string, value: string] => [
  `ipaddress.${names.labels}/managed-by`,
  `ipallocator.${names.domain}`,
];
export const familyLabel = (names: Names): string => `ipaddress.${names.labels}/ip-family`;

export const familyOf = ({ size }: IpNumber): 'IPv4' | 'IPv6' => (size === 32 ? 'IPv4' : 'IPv6');

/** The key and the stored text of the object that gives an address to a holder. */
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

/** Whom such an object names; undefined when that is nothing of the core group. */
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
