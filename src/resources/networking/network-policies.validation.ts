import { type FieldError, fieldError, portName, warned } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { IPBlock, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from '../../types/networking-v1.ts';
import { cidrWarnings, isWithin, validateCidr } from '../shared/addresses.ts';
import { byRule, eachOf, selector, within } from '../shared/field-rules.ts';

export function defaultPolicy(spec: NetworkPolicySpec): void {
  const { ingress = [], egress = [] } = spec;
  for (const { ports = [] } of [...ingress, ...egress]) for (const port of ports) port.protocol ??= 'TCP';
  spec.policyTypes ??= egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
}

export function validatePolicy({ podSelector, ingress, egress, policyTypes = [] }: NetworkPolicySpec): FieldError[] {
  const errors = [
    ...selector(podSelector, 'spec.podSelector'),
    ...eachOf(ingress, 'spec.ingress', ({ ports, from }, path) => [
      ...eachOf(ports, `${path}.ports`, validatePort),
      ...eachOf(from, `${path}.from`, validatePeer),
    ]),
    ...eachOf(egress, 'spec.egress', ({ ports, to }, path) => [
      ...eachOf(ports, `${path}.ports`, validatePort),
      ...eachOf(to, `${path}.to`, validatePeer),
    ]),
  ];
  if (policyTypes.length <= 2) return errors;
  return [...errors, fieldError.invalid('spec.policyTypes', policyTypes, 'may not specify more than two policyTypes')];
}

function validatePort({ port, endPort }: NetworkPolicyPort, path: string): FieldError[] {
  const [at, end] = [`${path}.port`, `${path}.endPort`];
  const refuse = (why: string) => (endPort === undefined ? [] : [fieldError.invalid(end, endPort, why)]);
  if (port === undefined) return refuse('may not be specified when `port` is not specified');
  if (typeof port === 'string') {
    return [...refuse('may not be specified when `port` is non-numeric'), ...byRule(at, port, portName)];
  }
  const errors = within(at, port, 1, 65535);
  if (endPort === undefined) return errors;
  if (endPort < port) errors.push(fieldError.invalid(end, port, 'must be greater than or equal to `port`'));
  return [...errors, ...within(end, endPort, 1, 65535)];
}

function validatePeer(peer: Infer<typeof NetworkPolicyPeer>, path: string): FieldError[] {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  const errors = [
    ...selector(podSelector, `${path}.podSelector`),
    ...selector(namespaceSelector, `${path}.namespaceSelector`),
    ...validateBlock(ipBlock, `${path}.ipBlock`),
  ];
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (!selects && ipBlock === undefined) errors.push(fieldError.required(path, 'must specify a peer'));
  if (selects && ipBlock !== undefined) {
    errors.push(fieldError.forbidden(path, 'may not specify both ipBlock and another peer'));
  }
  return errors;
}

function validateBlock(block: Infer<typeof IPBlock> | undefined, path: string): FieldError[] {
  const { cidr: range = '', except } = block ?? {};
  if (range === '') return [];
  const errors = validateCidr(`${path}.cidr`, range);
  if (errors.length > 0) return errors;
  return eachOf(except, `${path}.except`, (part, at) => {
    const ownErrors = validateCidr(at, part);
    if (ownErrors.length > 0 || isWithin(part, range)) return ownErrors;
    return [fieldError.invalid(at, part, 'must be a strict subset of `cidr`')];
  });
}

/** Warnings for CIDRs of IP blocks. */
export function networkPolicyWarnings({ ingress = [], egress = [] }: NetworkPolicySpec): string[] {
  const peerWarnings = (peers: readonly Infer<typeof NetworkPolicyPeer>[] | undefined, path: string) =>
    warned(peers).flatMap(({ ipBlock }, i) => {
      const at = `${path}[${i}].ipBlock`;
      if (ipBlock === undefined) return [];
      return [
        ...cidrWarnings(`${at}.cidr`, ipBlock.cidr ?? ''),
        ...warned(ipBlock.except).flatMap((part, j) => cidrWarnings(`${at}.except[${j}]`, part)),
      ];
    });
  return [
    ...warned(ingress).flatMap(({ from }, i) => peerWarnings(from, `spec.ingress[${i}].from`)),
    ...warned(egress).flatMap(({ to }, i) => peerWarnings(to, `spec.egress[${i}].to`)),
  ];
}
