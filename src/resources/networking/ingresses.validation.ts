import { isIP } from 'node:net';
import {
  dns1035Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  pathSegmentName,
  portName,
  wildcardDns1123Subdomain,
} from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type {
  HTTPIngressPath,
  IngressBackend,
  IngressRule,
  IngressSpec,
  IngressTLS,
} from '../../types/networking-v1.ts';
import { byRule, eachOf, within } from '../shared/field-rules.ts';

export function validateIngress(spec: IngressSpec): FieldError[] {
  const { rules = [], defaultBackend, ingressClassName: name, tls } = spec;
  const errors: FieldError[] = [];
  if (rules.length === 0 && defaultBackend === undefined) {
    errors.push(fieldError.invalid('spec', null, 'either `defaultBackend` or `rules` must be specified'));
  }
  if (defaultBackend !== undefined) errors.push(...validateBackend(defaultBackend, 'spec.defaultBackend'));
  return [
    ...errors,
    ...eachOf(rules, 'spec.rules', validateRule),
    ...eachOf(tls, 'spec.tls', validateTls),
    ...(name === undefined ? [] : byRule('spec.ingressClassName', name, dns1123Subdomain)),
  ];
}

const hostRule = (host: string): string[] =>
  host.includes('*') ? wildcardDns1123Subdomain(host) : dns1123Subdomain(host);

function validateRule({ host = '', http }: Infer<typeof IngressRule>, path: string): FieldError[] {
  const at = `${path}.host`;
  const errors: FieldError[] = [];
  if (isIP(host) !== 0) errors.push(fieldError.invalid(at, host, 'must be a DNS name, not an IP address'));
  if (host !== '') errors.push(...byRule(at, host, hostRule));
  return [...errors, ...eachOf(http?.paths ?? [], `${path}.http.paths`, validatePath)];
}

const invalidParts = ['//', '/./', '/../', '%2f', '%2F'];
const invalidEnds = ['/..', '/.'];

function validatePath(entry: Infer<typeof HTTPIngressPath>, path: string): FieldError[] {
  const { path: target = '', pathType, backend = {} } = entry;
  if ((pathType ?? null) === null) return [fieldError.required(`${path}.pathType`, 'pathType must be specified')];
  const at = `${path}.path`;
  const strict = pathType === 'Exact' || pathType === 'Prefix';
  const problems: string[] = [];
  if (!target.startsWith('/') && (strict || (pathType === 'ImplementationSpecific' && target !== ''))) {
    problems.push('must be an absolute path');
  }
  if (strict) {
    for (const part of invalidParts) if (target.includes(part)) problems.push(`must not contain '${part}'`);
    for (const end of invalidEnds) if (target.endsWith(end)) problems.push(`cannot end with '${end}'`);
  }
  return [
    ...problems.map((why) => fieldError.invalid(at, target, why)),
    ...validateBackend(backend, `${path}.backend`),
  ];
}

function validateBackend({ service, resource }: IngressBackend, path: string): FieldError[] {
  if (service !== undefined && resource !== undefined) {
    return [fieldError.invalid(path, '', 'cannot set both resource and service backends')];
  }
  if (resource !== undefined) return validateReference(resource, `${path}.resource`);
  if (service === undefined) return [fieldError.invalid(path, '', 'resource or service backend is required')];
  const { name = '', port: { name: text = '', number = 0 } = {} } = service;
  const errors = name === '' ? [] : byRule(`${path}.service.name`, name, dns1035Label);
  if (text !== '' && number !== 0) errors.push(fieldError.invalid(path, '', 'cannot set both port name & port number'));
  else if (text !== '') errors.push(...byRule(`${path}.service.port.name`, text, portName));
  else if (number !== 0) errors.push(...within(`${path}.service.port.number`, number, 1, 65535));
  else errors.push(fieldError.required(path, 'port name or number is required'));
  return errors;
}

/** Validates a reference to an object of any kind, namespaced or cluster-scoped. */
export function validateReference(
  { apiGroup, kind = '', name = '' }: { apiGroup?: string; kind?: string; name?: string },
  path: string,
): FieldError[] {
  const errors = (apiGroup ?? null) === null ? [] : byRule(`${path}.apiGroup`, apiGroup ?? '', dns1123Subdomain);
  for (const [field, value] of Object.entries({ kind, name })) {
    if (value === '') errors.push(fieldError.required(`${path}.${field}`));
    else errors.push(...byRule(`${path}.${field}`, value, pathSegmentName));
  }
  return errors;
}

const validateTls = ({ hosts, secretName = '' }: Infer<typeof IngressTLS>, path: string): FieldError[] => [
  ...eachOf(hosts, `${path}.hosts`, (host, at) => byRule(at, host, hostRule)),
  ...(secretName === '' ? [] : byRule(`${path}.secretName`, secretName, dns1123Subdomain)),
];
