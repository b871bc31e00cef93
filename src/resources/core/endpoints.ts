import {
  dns1123Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  type Names,
  type ObjectMeta,
  qualifiedName,
  warned,
} from '../../meta/index.ts';
import type { Infer, ObjectOf } from '../../schema/index.ts';
import { type EndpointAddress, type EndpointPort, type EndpointSubset, Endpoints } from '../../types/core-v1.ts';
import { addressWarnings, validateIp, validatePublicIp } from '../shared/addresses.ts';
import { age, formatSome, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { byRule, eachOf, isNew, same } from '../shared/field-rules.ts';

export const endpoints = resource({
  group: '',
  plural: 'endpoints',
  kind: 'Endpoints',
  schema: Endpoints,
  lifecycle: { introduced: '1.0', deprecated: '1.33', replacement: 'discovery.{domain}/v1 EndpointSlice' },
  shortNames: ['ep'],
  columns: [name, ['Endpoints', (object) => formatSome(addresses(object), 3)], age],
  strategy: {
    createOnUpdate: true,
    defaults: ({ subsets = [] }) => {
      for (const { ports = [] } of subsets) for (const port of ports) port.protocol ??= 'TCP';
    },
    validate: (object) => (isNew(object) ? eachOf(object.subsets, 'subsets', validateSubset) : []),
    // Subsets that have not changed are not validated again.
    validateUpdate: ({ subsets }, old) =>
      same(subsets, old.subsets) ? [] : eachOf(subsets, 'subsets', validateSubset),
    warnings: ({ metadata, subsets = [] }, _, { names }) =>
      isManaged(metadata, names)
        ? []
        : warned(subsets).flatMap((subset, i) => subsetWarnings(subset, `subsets[${i}]`, names)),
  },
});

/** Whether the endpoint controller manages them: the warnings for its addresses went to the writer of the service. */
const isManaged = ({ labels }: ObjectMeta, names: Names): boolean =>
  labels?.[`endpoints.${names.labels}/managed-by`] === 'endpoint-controller';

function subsetWarnings(subset: Infer<typeof EndpointSubset>, path: string, names: Names): string[] {
  const { addresses, notReadyAddresses } = subset;
  return Object.entries({ addresses, notReadyAddresses }).flatMap(([field, list]) =>
    warned(list).flatMap(({ ip = '' }, i) => addressWarnings(`${path}.${field}[${i}].ip`, ip, names)),
  );
}

function validateSubset(subset: Infer<typeof EndpointSubset>, path: string): FieldError[] {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
  const errors: FieldError[] = [];
  if (addresses.length === 0 && notReadyAddresses.length === 0) {
    errors.push(fieldError.required(path, 'must specify `addresses` or `notReadyAddresses`'));
  }
  return [
    ...errors,
    ...eachOf(addresses, `${path}.addresses`, validateAddress),
    ...eachOf(notReadyAddresses, `${path}.notReadyAddresses`, validateAddress),
    ...eachOf(ports, `${path}.ports`, (port, at) => validatePort(port, ports.length > 1, at)),
  ];
}

function validateAddress(
  { ip = '', hostname = '', nodeName }: Infer<typeof EndpointAddress>,
  path: string,
): FieldError[] {
  return [
    ...validateIp(`${path}.ip`, ip),
    ...(hostname === '' ? [] : byRule(`${path}.hostname`, hostname, dns1123Label)),
    ...(nodeName === undefined ? [] : byRule(`${path}.nodeName`, nodeName, dns1123Subdomain)),
    ...validatePublicIp(`${path}.ip`, ip),
  ];
}

function validatePort(
  { name = '', appProtocol }: Infer<typeof EndpointPort>,
  several: boolean,
  path: string,
): FieldError[] {
  return [
    ...(name === '' && several ? [fieldError.required(`${path}.name`)] : []),
    ...(name === '' ? [] : byRule(`${path}.name`, name, dns1123Label)),
    ...(appProtocol === undefined ? [] : byRule(`${path}.appProtocol`, appProtocol, qualifiedName)),
  ];
}

/** `ip:port` for each address and port; only `ip` without ports. */
function addresses({ subsets = [] }: ObjectOf<typeof Endpoints>): string[] {
  return subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0
      ? addresses.map(({ ip = '' }) => ip)
      : ports.flatMap(({ port = 0 }) =>
          addresses.map(({ ip = '' }) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)),
        ),
  );
}
