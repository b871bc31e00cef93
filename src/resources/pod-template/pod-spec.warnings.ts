import { dns1123Label, type Names, type ObjectMeta, parseQuantity, warned } from '../../meta/index.ts';
import type { ResourceList } from '../../rules/index.ts';
import type { Container, EphemeralContainer, PodSpec, PodTemplateSpec, Volume } from '../../types/core-v1.ts';
import { addressWarnings } from '../shared/addresses.ts';
import { annotationKeys, containersOf } from './annotations.ts';
import { duplicatePortWarnings } from './duplicate-ports.ts';
import { deprecatedLabelReason, nodeSelectorTermWarnings } from './node-labels.ts';
import { overlappingPathWarnings } from './overlapping-paths.ts';

/**
 * The pod spec under warning; warnings for templates also cover annotations that are deprecated in favour of fields.
 */
interface Subject {
  readonly metadata: { readonly annotations?: { readonly [key: string]: string } };
  readonly spec: PodSpec;
  /** Path of the template with a trailing dot; '' for a pod. */
  readonly path: string;
  readonly names: Names;
}

/** Warnings for a pod. */
export const podWarnings = (metadata: ObjectMeta, spec: PodSpec, names: Names): string[] => [
  ...podNameWarnings(metadata, "the Pod's hostname"),
  ...specWarnings({ metadata, spec, path: '', names }),
];

/** Warnings for a pod template at a path. */
export const templateWarnings = ({ metadata = {}, spec = {} }: PodTemplateSpec, path: string, names: Names): string[] =>
  specWarnings({ metadata, spec, path: `${path}.`, names });

/** Warnings for a name that becomes a host name or part of other names. */
export function podNameWarnings({ name = '' }: ObjectMeta, use = 'Pod names and hostnames'): string[] {
  const problems = dns1123Label(name);
  if (problems.length === 0) return [];
  const why = 'which can result in surprising behavior; a DNS label is recommended';
  return [`metadata.name: this is used in ${use}, ${why}: [${problems.join(' ')}]`];
}

const specWarnings = (subject: Subject): string[] => [
  ...nodeLabelsWarnings(subject),
  ...annotationsWarnings(subject),
  ...volumesWarnings(subject),
  ...warned(subject.spec.volumes).flatMap(overlappingPathWarnings),
  ...duplicatesWarnings(subject),
  ...seccompWarnings(subject),
  ...containersWarnings(subject),
  ...duplicatePortWarnings(subject.spec, `${subject.path}spec`),
  ...portNamesWarnings(subject),
  ...graceWarnings(subject),
  ...selectorsWarnings(subject),
  ...addressesWarnings(subject),
];

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

function nodeLabelsWarnings({ spec, path, names }: Subject): string[] {
  const nodes = spec.affinity?.nodeAffinity;
  const at = `${path}spec.affinity.nodeAffinity`;
  return [
    ...warned(Object.keys(spec.nodeSelector ?? {})).flatMap((key) => {
      const reason = deprecatedLabelReason(key, names);
      return reason === undefined ? [] : [`${path}spec.nodeSelector[${key}]: ${reason}`];
    }),
    ...warned(nodes?.[REQUIRED]?.nodeSelectorTerms).flatMap((term, i) =>
      nodeSelectorTermWarnings(term, false, `${at}.${REQUIRED}.nodeSelectorTerms[${i}]`, names),
    ),
    ...warned(nodes?.[PREFERRED]).flatMap(({ preference = {} }, i) =>
      nodeSelectorTermWarnings(preference, true, `${at}.${PREFERRED}[${i}].preference`, names),
    ),
    ...warned(spec.topologySpreadConstraints).flatMap(({ topologyKey = '', labelSelector }, i) => {
      const place = `${path}spec.topologySpreadConstraints[${i}]`;
      const reason = deprecatedLabelReason(topologyKey, names);
      return [
        ...(reason === undefined ? [] : [`${place}.topologyKey: ${topologyKey} is ${reason}`]),
        ...(labelSelector === undefined ? [matchesNothing(place)] : []),
      ];
    }),
  ];
}

const matchesNothing = (path: string): string =>
  `${path}.labelSelector: a null labelSelector results in matching no pod`;

const onAnnotation = ({ path }: Subject, key: string, why: string) => `${path}metadata.annotations[${key}]: ${why}`;

function annotationsWarnings(subject: Subject): string[] {
  const { labels } = subject.names;
  return (
    [
      [`scheduler.alpha.${labels}/critical-pod`, 'non-functional in v1.16+; use the "priorityClassName" field instead'],
      [`security.alpha.${labels}/sysctls`, 'non-functional in v1.11+; use the "sysctls" field instead'],
      [`security.alpha.${labels}/unsafe-sysctls`, 'non-functional in v1.11+; use the "sysctls" field instead'],
    ] as const
  ).flatMap(([key, why]) => (isAnnotated(subject, key) ? [onAnnotation(subject, key, why)] : []));
}

const isAnnotated = ({ metadata }: Subject, key: string): boolean => Object.hasOwn(metadata.annotations ?? {}, key);

const SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead';

function seccompWarnings(subject: Subject): string[] {
  const { podSeccomp } = annotationKeys(subject.names);
  const hasField = subject.spec.securityContext?.seccompProfile !== undefined;
  return !hasField && isAnnotated(subject, podSeccomp) ? [onAnnotation(subject, podSeccomp, SECCOMP)] : [];
}

/** Warnings for container annotations that are deprecated in favour of fields. */
function profilesWarnings(subject: Subject, { name = '', securityContext }: Container | EphemeralContainer): string[] {
  const keys = annotationKeys(subject.names);
  const [seccomp, armor] = [keys.containerSeccomp + name, keys.appArmor + name];
  const profile = securityContext?.appArmorProfile ?? subject.spec.securityContext?.appArmorProfile;
  const warnings: string[] = [];
  if (securityContext?.seccompProfile === undefined && isAnnotated(subject, seccomp)) {
    warnings.push(onAnnotation(subject, seccomp, SECCOMP));
  }
  if (subject.path !== '' && profile === undefined && isAnnotated(subject, armor)) {
    warnings.push(onAnnotation(subject, armor, 'deprecated since v1.30; use the "appArmorProfile" field instead'));
  }
  return warnings;
}

/** Deprecated and removed volume sources; `field` is the field name in the warning where it differs. */
export const deprecatedSources: readonly (readonly [source: keyof Volume, why: string, shown?: string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+', 'storageOS'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

const volumesWarnings = ({ spec, path }: Subject): string[] =>
  warned(spec.volumes).flatMap((volume, i) => {
    const at = `${path}spec.volumes[${i}]`;
    const claim = volume.ephemeral?.volumeClaimTemplate?.spec?.resources;
    const inClaim = `${at}.ephemeral.volumeClaimTemplate.spec.resources`;
    return [
      ...deprecatedSources
        .filter(([source]) => volume[source] !== undefined)
        .map(([source, why, field = source]) => `${at}.${field}: ${why}`),
      ...fractionWarnings(claim?.requests, `${inClaim}.requests`, ['storage']),
      ...fractionWarnings(claim?.limits, `${inClaim}.limits`, ['storage']),
    ];
  });

const BILLION = 1_000_000_000n;

/** Warnings for fractional quantities of resources that are counted in bytes. */
export function fractionWarnings(
  amounts: ResourceList | undefined,
  path: string,
  resources = ['memory', 'ephemeral-storage'],
): string[] {
  return resources.flatMap((name) => {
    const amount = amounts?.[name];
    if (amount === undefined || parseQuantity(amount).nano % BILLION === 0n) return [];
    return [`${path}[${name}]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`];
  });
}

function duplicatesWarnings({ spec, path }: Subject): string[] {
  const repeats = (values: readonly string[], field: string, what: string) => {
    const seen = new Set<string>();
    return values.flatMap((value, i) => {
      if (seen.has(value)) return [`${path}spec.${field}[${i}].${what}: duplicate ${what} ${JSON.stringify(value)}`];
      seen.add(value);
      return [];
    });
  };
  const secrets = (spec.imagePullSecrets ?? []).map(({ name = '' }) => name);
  return [
    ...repeats(
      (spec.hostAliases ?? []).map(({ ip = '' }) => ip),
      'hostAliases',
      'ip',
    ),
    ...repeats(secrets, 'imagePullSecrets', 'name'),
    ...secrets.flatMap((name, i) =>
      name === '' ? [`${path}spec.imagePullSecrets[${i}].name: invalid empty name ""`] : [],
    ),
    ...fractionWarnings(spec.overhead, `${path}spec.overhead`),
  ];
}

function graceWarnings({ spec, path }: Subject): string[] {
  const why = 'must be >= 0; negative values are invalid and will be treated as 1';
  return (spec.terminationGracePeriodSeconds ?? 0) < 0 ? [`${path}spec.terminationGracePeriodSeconds: ${why}`] : [];
}

const containersWarnings = (subject: Subject): string[] =>
  containersOf(subject.spec, `${subject.path}spec`).flatMap(([at, container]) => [
    ...profilesWarnings(subject, container),
    ...fractionWarnings(container.resources?.limits, `${at}.resources.limits`, ['memory']),
    ...fractionWarnings(container.resources?.requests, `${at}.resources.requests`, ['memory']),
    ...fractionWarnings(container.resources?.limits, `${at}.resources.limits`, ['ephemeral-storage']),
    ...fractionWarnings(container.resources?.requests, `${at}.resources.requests`, ['ephemeral-storage']),
    ...envWarnings(container, at),
  ]);

/** Warnings for environment variables that are set more than once, unless the later value refers to the variable. */
function envWarnings({ env = [] }: Container | EphemeralContainer, path: string): string[] {
  const seen = new Set<string>();
  const warnings: string[] = [];
  for (const [i, { name = '', value = '', valueFrom }] of warned(env).entries()) {
    if (!seen.has(name)) {
      seen.add(name);
      continue;
    }
    const reference = `$(${name})`;
    if (valueFrom === undefined && value !== reference && value.includes(reference)) continue;
    const why = `hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`;
    warnings.push(`${path}.env[${i}]: ${why}`);
  }
  return warnings;
}

/** Warnings for port names used by several containers: a lookup by name returns the first. */
function portNamesWarnings({ spec, path }: Subject): string[] {
  const pathsByName = new Map<string, string>();
  return containersOf(spec, `${path}spec`).flatMap(([place, { ports = [] }]) =>
    warned(ports).flatMap(({ name = '' }, i) => {
      const at = `${place}.ports[${i}]`;
      const first = pathsByName.get(name);
      if (first === undefined) {
        if (name !== '') pathsByName.set(name, at);
        return [];
      }
      const consequence = `services and probes that select ports by name will use ${first}`;
      return [`${at}: duplicate port name ${JSON.stringify(name)} with ${first}, ${consequence}`];
    }),
  );
}

function selectorsWarnings({ spec, path }: Subject): string[] {
  const kinds = { podAffinity: spec.affinity?.podAffinity, podAntiAffinity: spec.affinity?.podAntiAffinity };
  return Object.entries(kinds).flatMap(([kind, affinity]) => {
    const at = `${path}spec.affinity.${kind}`;
    return [
      ...warned(affinity?.[REQUIRED]).flatMap(({ labelSelector }, i) =>
        labelSelector === undefined ? [matchesNothing(`${at}.${REQUIRED}[${i}]`)] : [],
      ),
      ...warned(affinity?.[PREFERRED]).flatMap(({ podAffinityTerm }, i) =>
        podAffinityTerm?.labelSelector === undefined
          ? [matchesNothing(`${at}.${PREFERRED}[${i}].podAffinityTerm`)]
          : [],
      ),
    ];
  });
}

const addressesWarnings = ({ spec, path, names }: Subject): string[] => [
  ...warned(spec.dnsConfig?.nameservers).flatMap((ip, i) =>
    addressWarnings(`${path}spec.dnsConfig.nameservers[${i}]`, ip, names),
  ),
  ...warned(spec.hostAliases).flatMap(({ ip = '' }, i) =>
    addressWarnings(`${path}spec.hostAliases[${i}].ip`, ip, names),
  ),
];
