import { isIPv6 } from 'node:net';
import {
  dns1123Subdomain,
  type FieldError,
  fieldError,
  immutable,
  ipAddress,
  type Names,
  qualifiedName,
  warned,
} from '../../meta/index.ts';
import { isSidecar } from '../../rules/index.ts';
import type { Container, ContainerStatus, Pod, PodSpec, PodStatus } from '../../types/core-v1.ts';
import { MAX_ID } from '../pod-template/security-context.ts';
import { addressWarnings } from '../shared/addresses.ts';
import { byRule, eachOf, oneOf, within } from '../shared/field-rules.ts';

const systemConditions = new Set(['PodScheduled', 'Ready', 'Initialized']);

type Parts = Pick<Pod, 'spec' | 'status'>;

/** Validates an update of the status of a pod. */
export function validatePodStatusUpdate(pod: Parts, before: Parts): FieldError[] {
  const { spec = {}, status = {} } = pod;
  const { spec: oldSpec = {}, status: old = {} } = before;
  const nominated = status.nominatedNodeName ?? '';
  const errors = eachOf(status.conditions, 'status.conditions', ({ type = '', observedGeneration }, at) => [
    ...validateGeneration(observedGeneration, `${at}.observedGeneration`),
    ...(systemConditions.has(type) ? [] : byRule(`${at}.Type`, type, qualifiedName)),
  ]);
  if (nominated !== (old.nominatedNodeName ?? '') && nominated !== '') {
    errors.push(...byRule('status.nominatedNodeName', nominated, dns1123Subdomain));
  }
  errors.push(...validateGeneration(status.observedGeneration, 'status.observedGeneration'));
  if ((status.qosClass ?? '') !== (old.qosClass ?? '')) {
    errors.push(immutable('status.qosClass', status.qosClass ?? ''));
  }
  return [
    ...errors,
    ...validateTransitions(status, old, oldSpec),
    ...validateClaims(status, spec),
    ...validateAddresses(status.podIPs, 'status.podIPs'),
    ...validateHostAddresses(status),
    ...statusLists.flatMap((list) => validateUsers(status[list], spec.os?.name ?? 'linux', `status.${list}`)),
    ...validateHealth(status.containerStatuses, spec.containers, 'status.containerStatuses'),
    ...validateHealth(status.initContainerStatuses, spec.initContainers, 'status.initContainerStatuses'),
    ...eachOf(status.ephemeralContainerStatuses, 'status.ephemeralContainerStatuses', (one, at) =>
      (one.allocatedResourcesStatus ?? []).length === 0
        ? []
        : [fieldError.forbidden(`${at}.allocatedResourcesStatus`, 'must not be specified in container status')],
    ),
  ];
}

const validateGeneration = (generation: number | undefined, path: string): FieldError[] =>
  generation !== undefined && generation < 0
    ? [fieldError.invalid(path, generation, 'must be a non-negative integer')]
    : [];

/** Keeps `observedGeneration` of the status and of its conditions where the update clears it. */
export function keepObservedGenerations(status: PodStatus, old: PodStatus): void {
  if (!status.observedGeneration && old.observedGeneration) status.observedGeneration = old.observedGeneration;
  const remaining = new Map<string | undefined, NonNullable<PodStatus['conditions']>>();
  // The first of several conditions of a type counts.
  for (const condition of [...(old.conditions ?? [])].reverse()) {
    const alike = remaining.get(condition.type);
    if (alike === undefined) remaining.set(condition.type, [condition]);
    else alike.push(condition);
  }
  for (const condition of status.conditions ?? []) {
    const before = remaining.get(condition.type)?.pop();
    if (!condition.observedGeneration && before?.observedGeneration) {
      condition.observedGeneration = before.observedGeneration;
    }
  }
}

const statusLists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

type Statuses = readonly ContainerStatus[] | undefined;

/** Rejects a transition out of the terminated state where the restart policy forbids it. */
function validateTransitions(status: PodStatus, old: PodStatus, spec: PodSpec): FieldError[] {
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const check = (
    now: Statuses,
    before: Statuses,
    field: string,
    policy: string | undefined,
    skip?: typeof sidecars,
  ) => {
    const running = new Map<string | undefined, number>();
    for (const { name, state } of now ?? []) {
      if (state?.terminated === undefined) running.set(name, (running.get(name) ?? 0) + 1);
    }
    return eachOf(before, `status.${field}`, ({ name, state }, at) => {
      const { terminated } = state ?? {};
      if (policy === 'Always' || terminated === undefined || skip?.has(name) === true) return [];
      if ((terminated.exitCode ?? 0) !== 0 && policy === 'OnFailure') return [];
      return Array.from({ length: running.get(name) ?? 0 }, () =>
        fieldError.forbidden(`${at}.state`, 'may not be transitioned to non-terminated state'),
      );
    });
  };
  const { restartPolicy } = spec;
  return [
    ...check(status.containerStatuses, old.containerStatuses, 'containerStatuses', restartPolicy),
    ...check(status.initContainerStatuses, old.initContainerStatuses, 'initContainerStatuses', restartPolicy, sidecars),
    ...check(status.ephemeralContainerStatuses, old.ephemeralContainerStatuses, 'ephemeralContainerStatuses', 'Never'),
  ];
}

/** Validates `user` of container statuses, which only some operating systems have. */
const validateUsers = (statuses: Statuses, os: string, path: string): FieldError[] =>
  eachOf(statuses, path, ({ user }, at) => {
    const { linux } = user ?? {};
    if (linux === undefined) return [];
    if (os === 'windows') return [fieldError.forbidden(`${at}.user.linux`, 'cannot be set for a windows pod')];
    return [
      ...within(`${at}.user.linux.uid`, linux.uid ?? 0, 0, MAX_ID),
      ...within(`${at}.user.linux.gid`, linux.gid ?? 0, 0, MAX_ID),
      ...eachOf(linux.supplementalGroups, `${at}.user.linux.supplementalGroups`, (id, place) =>
        within(place, id, 0, MAX_ID),
      ),
    ];
  });

const healthStates = ['Healthy', 'Unhealthy', 'Unknown'];
const CLAIM = 'claim:';

/** Validates `allocatedResourcesStatus`: only requested resources, each device once. */
function validateHealth(statuses: Statuses, containers: PodSpec['containers'], path: string): FieldError[] {
  const byName = new Map<string | undefined, Container>();
  for (const container of containers ?? []) if (!byName.has(container.name)) byName.set(container.name, container);
  return eachOf(statuses, path, ({ name: of, allocatedResourcesStatus }, at) => {
    const container = byName.get(of);
    // Statuses of unknown containers are not validated here.
    const requestedResources = container === undefined ? undefined : requestedBy(container);
    return eachOf(allocatedResourcesStatus, `${at}.allocatedResourcesStatus`, ({ name = '', resources }, place) => {
      const errors =
        requestedResources === undefined ? [] : validateRequested(name, requestedResources, `${place}.name`);
      const seen = new Set<string>();
      return [
        ...errors,
        ...eachOf(resources, `${place}.resources`, ({ resourceID = '', health = '' }, one) => {
          const ownErrors = oneOf(`${one}.health`, health, healthStates);
          if (seen.has(resourceID)) ownErrors.push(fieldError.duplicate(`${one}.resourceID`, resourceID));
          seen.add(resourceID);
          return ownErrors;
        }),
      ];
    });
  });
}

/** The resources of a container, claims in the form in which the status names them. */
function requestedBy({ resources }: Container): ReadonlySet<string> {
  const { claims = [], requests = {} } = resources ?? {};
  return new Set([
    ...Object.keys(requests).filter((name) => !name.startsWith(CLAIM)),
    ...claims.map(({ name = '', request }) => `${CLAIM}${name}${request ? `/${request}` : ''}`),
  ]);
}

function validateRequested(name: string, asked: ReadonlySet<string>, path: string): FieldError[] {
  if (asked.has(name)) return [];
  if (!name.startsWith(CLAIM)) {
    return [fieldError.invalid(path, name, "must match one of the container's resource requests")];
  }
  const forms = "in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
  return [fieldError.invalid(path, name, `must match one of the container's resource claims ${forms}`)];
}

function validateClaims(status: PodStatus, { resourceClaims = [] }: PodSpec): FieldError[] {
  const seen = new Set<string>();
  const claimNames = new Set(resourceClaims.map((claim) => claim.name));
  return eachOf(
    status.resourceClaimStatuses,
    'status.resourceClaimStatuses',
    ({ name = '', resourceClaimName }, at) => {
      const errors: FieldError[] = [];
      if (!claimNames.has(name)) {
        const why = 'must match the name of an entry in `spec.resourceClaims`';
        errors.push(fieldError.invalid(`${at}.name`, name, why));
      }
      if (seen.has(name)) errors.push(fieldError.duplicate(`${at}.name`, name));
      seen.add(name);
      if (resourceClaimName !== undefined) errors.push(...byRule(`${at}.name`, resourceClaimName, dns1123Subdomain));
      return errors;
    },
  );
}

/** Warnings for pod and host IPs that are not in canonical form. */
export const podStatusWarnings = ({ podIPs, hostIPs }: PodStatus, names: Names): string[] =>
  Object.entries({ podIPs, hostIPs }).flatMap(([field, list]) =>
    warned(list).flatMap(({ ip = '' }, i) => addressWarnings(`status.${field}[${i}].ip`, ip, names)),
  );

type Addresses = readonly { ip?: string }[] | undefined;

/** Validates a list of IPs: at most one of each family. */
function validateAddresses(addresses: Addresses, path: string): FieldError[] {
  const ips = (addresses ?? []).map(({ ip = '' }) => ip);
  const errors = eachOf(ips, path, (ip, at) => byRule(at, ip, ipAddress));
  if (ips.length < 2) return errors;
  const printedValue = ips.map((ip) => ({ IP: ip }));
  if (ips.length > 2 || ips.every(isIPv6) || !ips.some(isIPv6)) {
    errors.push(fieldError.invalid(path, printedValue, 'may specify no more than one IP for each IP family'));
  }
  const seen = new Set<string>();
  ips.forEach((ip, i) => {
    if (seen.has(ip)) errors.push(fieldError.duplicate(`${path}[${i}]`, { IP: ip }));
    seen.add(ip);
  });
  return errors;
}

function validateHostAddresses({ hostIP = '', hostIPs = [] }: PodStatus): FieldError[] {
  const [first] = hostIPs;
  if (first === undefined) return [];
  const why = 'must be equal to `hostIP`';
  return [
    ...((first.ip ?? '') === hostIP ? [] : [fieldError.invalid('status.hostIPs[0].ip', first.ip ?? '', why)]),
    ...validateAddresses(hostIPs, 'status.hostIPs'),
  ];
}
