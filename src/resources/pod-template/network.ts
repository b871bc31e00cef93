import { dns1123Subdomain, type FieldError, fieldError, ipAddress, type NameRule } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { HostAlias, PodSpec } from '../../types/core-v1.ts';
import { byRule, eachOf } from '../shared/field-rules.ts';

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_TEXT = 2048;

/** Validates `dnsConfig` and `dnsPolicy`. */
export function validateDns({ dnsConfig, dnsPolicy }: PodSpec, path: string): FieldError[] {
  const { nameservers = [], searches = [], options } = dnsConfig ?? {};
  if (dnsPolicy === 'None') {
    if (dnsConfig === undefined) {
      return [fieldError.required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    }
    if (nameservers.length === 0) {
      const why = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      return [fieldError.required(`${path}.nameservers`, why)];
    }
  }
  const errors: FieldError[] = [];
  if (nameservers.length > MAX_NAMESERVERS) {
    const why = `must not have more than ${MAX_NAMESERVERS} nameservers`;
    errors.push(fieldError.invalid(`${path}.nameservers`, nameservers, why));
  }
  errors.push(...eachOf(nameservers, `${path}.nameservers`, (server, at) => byRule(at, server, ipAddress)));
  if (searches.length > MAX_SEARCHES) {
    const why = `must not have more than ${MAX_SEARCHES} search paths`;
    errors.push(fieldError.invalid(`${path}.searches`, searches, why));
  }
  if (Buffer.byteLength(searches.join(' ')) > MAX_SEARCH_TEXT) {
    const why = `must not have more than ${MAX_SEARCH_TEXT} characters (including spaces) in the search list`;
    errors.push(fieldError.invalid(`${path}.searches`, searches, why));
  }
  return [
    ...errors,
    ...eachOf(searches, `${path}.searches`, (search, at) =>
      search === '.' ? [] : byRule(at, search.replace(/\.$/, ''), searchDomain),
    ),
    ...eachOf(options, `${path}.options`, ({ name = '' }, at) =>
      name === '' ? [fieldError.required(at, 'must not be empty')] : [],
    ),
  ];
}

const LABEL = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const searchForm = /^_?[a-z0-9]+(?:[-_]+[a-z0-9]+)*(?:\._?[a-z0-9]+(?:[-_]+[a-z0-9]+)*)*$/;

/** A DNS subdomain that may contain underscores. */
const searchDomain: NameRule = (value) => {
  const problems = Buffer.byteLength(value) > 253 ? ['must be no more than 253 characters'] : [];
  if (searchForm.test(value)) return problems;
  const why =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
  return [...problems, `${why} (e.g. 'example.com', regex used for validation is '${LABEL}(\\.${LABEL})*')`];
};

/** Validates `hostAliases`. */
export const validateHostAliases = (
  aliases: readonly Infer<typeof HostAlias>[] | undefined,
  path: string,
): FieldError[] =>
  eachOf(aliases, path, ({ ip = '', hostnames }, at) => [
    ...byRule(`${at}.ip`, ip, ipAddress),
    ...eachOf(hostnames, `${at}.hostnames`, (hostname, place) => byRule(place, hostname, dns1123Subdomain)),
  ]);

/** Requires that `hostPort` equals `containerPort` with `hostNetwork`; a template may leave `hostPort` unset. */
export function validateHostPorts(spec: PodSpec, isPod: boolean, path: string): FieldError[] {
  if (spec.hostNetwork !== true) return [];
  return eachOf(spec.containers, `${path}.containers`, ({ ports }, at) =>
    eachOf(ports, `${at}.ports`, ({ hostPort = 0, containerPort = 0 }, place) =>
      (isPod || hostPort !== 0) && hostPort !== containerPort
        ? [fieldError.invalid(`${place}.hostPort`, hostPort, 'must match `containerPort` when `hostNetwork` is true')]
        : [],
    ),
  );
}
