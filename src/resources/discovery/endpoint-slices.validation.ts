import { isIPv4, isIPv6 } from 'node:net';
import {
  dns1123Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  labelValue,
  qualifiedName,
  validateLabels,
} from '../../meta/index.ts';
import type { Infer, ObjectOf } from '../../schema/index.ts';
import type { Endpoint, EndpointHints, EndpointPort, EndpointSlice } from '../../types/discovery-v1.ts';
import { validateIp, validatePublicIp } from '../shared/addresses.ts';
import { byRule, byRuleAsOne, eachOf, unique } from '../shared/field-rules.ts';

const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;
const MAX_TOPOLOGY_LABELS = 16;
const MAX_HINTS = 8;

export function validateSlice({ addressType, endpoints, ports }: ObjectOf<typeof EndpointSlice>): FieldError[] {
  return [
    ...validateList(endpoints, 'endpoints', MAX_ENDPOINTS, (endpoint, path) =>
      validateEndpoint(endpoint, addressType, path),
    ),
    ...validateList(ports, 'ports', MAX_PORTS, validatePort),
    ...((ports ?? []).length > MAX_PORTS ? [] : unique(ports, 'ports', ({ name = '' }) => name, '.name')),
  ];
}

function validateList<T>(
  list: readonly T[] | null | undefined,
  path: string,
  most: number,
  rule: (entry: T, path: string) => FieldError[],
): FieldError[] {
  const entries = list ?? [];
  return entries.length > most ? [fieldError.tooMany(path, entries.length, most)] : eachOf(entries, path, rule);
}

function validateEndpoint(endpoint: Endpoint, type: string | undefined, path: string): FieldError[] {
  const { nodeName, hostname, deprecatedTopology: topology = {}, hints } = endpoint;
  const addresses = endpoint.addresses ?? [];
  const errors: FieldError[] = [];
  const at = `${path}.addresses`;
  if (addresses.length === 0) errors.push(fieldError.required(at, 'must contain at least 1 address'));
  if (addresses.length > MAX_ADDRESSES) errors.push(fieldError.tooMany(at, addresses.length, MAX_ADDRESSES));
  errors.push(...eachOf(addresses, at, (address, place) => addressRules[type ?? '']?.(address, place) ?? []));
  if (nodeName !== undefined) errors.push(...byRule(`${path}.nodeName`, nodeName, dns1123Subdomain));
  const count = Object.keys(topology).length;
  if (count > MAX_TOPOLOGY_LABELS) {
    errors.push(fieldError.tooMany(`${path}.deprecatedTopology`, count, MAX_TOPOLOGY_LABELS));
  }
  errors.push(...validateLabels(topology, `${path}.deprecatedTopology`));
  if (hostname !== undefined) errors.push(...byRule(`${path}.hostname`, hostname, dns1123Label));
  return hints === undefined ? errors : [...errors, ...validateHints(hints, `${path}.hints`)];
}

/** Validates an IP. `wrong` says why it does not fit the type of the slice, which is an error of the list. */
function validateAddress(address: string, path: string, wrong: string | undefined): FieldError[] {
  const errors = validateIp(path, address);
  if (errors.length > 0) return errors;
  return [
    ...(wrong === undefined ? [] : [fieldError.invalid(path.replace(/\[\d+\]$/, ''), address, wrong)]),
    ...validatePublicIp(path, address),
  ];
}

const addressRules: { readonly [type: string]: (address: string, path: string) => FieldError[] } = {
  IPv4: (address, path) => validateAddress(address, path, isIPv4(address) ? undefined : 'must be an IPv4 address'),
  IPv6: (address, path) => validateAddress(address, path, isIPv6(address) ? undefined : 'must be an IPv6 address'),
  FQDN: (address, path) => {
    if (address === '') return [fieldError.required(path)];
    const name = address.replace(/\.$/, '');
    const errors = byRuleAsOne(path, name, dns1123Subdomain);
    if (errors.length > 0) return errors;
    if (name.includes('.')) return name.split('.').flatMap((label) => byRuleAsOne(path, label, dns1123Label));
    return [fieldError.invalid(path, name, 'should be a domain with at least two segments separated by dots')];
  },
};

const validatePort = ({ name = '', appProtocol }: Infer<typeof EndpointPort>, path: string): FieldError[] => [
  ...(name === '' ? [] : byRule(`${path}.name`, name, dns1123Label)),
  ...(appProtocol === undefined ? [] : byRule(`${path}.appProtocol`, appProtocol, qualifiedName)),
];

const validateHints = ({ forZones, forNodes }: Infer<typeof EndpointHints>, path: string): FieldError[] => [
  ...validateNames(forZones ?? [], `${path}.forZones`, labelValue),
  ...validateNames(forNodes ?? [], `${path}.forNodes`, dns1123Subdomain),
];

function validateNames(
  entries: readonly { name?: string }[],
  path: string,
  rule: (name: string) => string[],
): FieldError[] {
  if (entries.length > MAX_HINTS) return [fieldError.tooMany(path, entries.length, MAX_HINTS)];
  return [
    ...unique(entries, path, ({ name = '' }) => name, '.name'),
    ...eachOf(entries, path, ({ name = '' }, at) => byRule(`${at}.name`, name, rule)),
  ];
}
