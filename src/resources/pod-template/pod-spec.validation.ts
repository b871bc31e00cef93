import {
  dns1123Label,
  dns1123Subdomain,
  errorsAfter,
  type FieldError,
  fieldError,
  type Names,
  type ObjectMeta,
  validateAnnotations,
  validateLabels,
} from '../../meta/index.ts';
import type { PodSpec, PodTemplateSpec } from '../../types/core-v1.ts';
import { byRule, eachOf, type PodSpecContext, type PodValidationContext } from '../shared/field-rules.ts';
import { validateAffinity } from './affinity.ts';
import { containersOf, validatePodAnnotations, validateProfilesMatch } from './annotations.ts';
import {
  type PodScope,
  validateContainers,
  validateEphemeralContainers,
  validateInitContainers,
  validatePodImage,
} from './containers.ts';
import { validateDns, validateHostAliases, validateHostPorts } from './network.ts';
import { validateOverhead, validatePodResources, validateResourceClaims } from './resources.ts';
import {
  validatePreemption,
  validateReadinessGates,
  validateSchedulingGates,
  validateSpread,
  validateTolerations,
} from './scheduling.ts';
import { validateHostProcesses, validateHostUsers, validatePodSecurity } from './security-context.ts';
import { validateVolumes } from './volumes.ts';
import { validateOs } from './windows.ts';

/** Validates a pod spec, of a pod or of a pod template, beyond its schema. */
function validatePodSpec(spec: PodSpec, path: string, context: PodSpecContext): FieldError[] {
  const volumes = validateVolumes(spec.volumes, `${path}.volumes`, context);
  const claims = new Set((spec.resourceClaims ?? []).map(({ name = '' }) => name).filter((name) => name !== ''));
  const scope: PodScope = { spec, volumes: volumes.sound, claims, context };
  const contexts = containersOf(spec, path).map(([at, { securityContext }]) => [at, securityContext] as const);
  return [
    ...volumes.errors,
    ...validateResourceClaims(spec.resourceClaims, `${path}.resourceClaims`),
    ...errorsAfter(volumes.errors, () => [
      ...validateContainers(scope, `${path}.containers`),
      ...validateInitContainers(scope, `${path}.initContainers`),
      ...validateEphemeralContainers(scope, `${path}.ephemeralContainers`),
    ]),
    ...validatePodResources(spec, claims, `${path}.resources`, context.names),
    ...validateHostPorts(spec, context.pod !== undefined, path),
    ...validateLabels(spec.nodeSelector ?? {}, `${path}.nodeSelector`),
    ...validatePodSecurity(spec, `${path}.securityContext`, context),
    ...validateAffinity(spec.affinity, `${path}.affinity`),
    ...validateDns(spec, `${path}.dnsConfig`),
    ...validateReadinessGates(spec.readinessGates, `${path}.readinessGates`),
    ...validateSchedulingGates(spec.schedulingGates, `${path}.schedulingGates`),
    ...validateSpread(spec.topologySpreadConstraints, `${path}.topologySpreadConstraints`),
    ...validateHostProcesses(spec, contexts, path, context),
    ...validateHostUsers(spec, path),
    ...validateNames(spec, path),
    ...validatePreemption(spec.preemptionPolicy, `${path}.preemptionPolicy`),
    ...validateTolerations(spec.tolerations, `${path}.tolerations`),
    ...validateHostAliases(spec.hostAliases, `${path}.hostAliases`),
    ...validateOverhead(spec.overhead ?? {}, `${path}.overhead`, context.names),
    ...validateOs(spec, contexts, path),
  ];
}

const nameRules = [
  ['serviceAccountName', dns1123Subdomain],
  ['nodeName', dns1123Subdomain],
  ['hostname', dns1123Label],
  ['subdomain', dns1123Label],
  ['priorityClassName', dns1123Subdomain],
] as const;

function validateNames(spec: PodSpec, path: string): FieldError[] {
  const errors = nameRules.flatMap(([field, rule]) =>
    spec[field] ? byRule(`${path}.${field}`, spec[field], rule) : [],
  );
  if (spec.runtimeClassName === undefined) return errors;
  return [...errors, ...byRule(`${path}.runtimeClassName`, spec.runtimeClassName, dns1123Subdomain)];
}

/** Validates a pod template beyond its schema. */
export function validateTemplate(template: PodTemplateSpec, path: string, rules: PodValidationContext): FieldError[] {
  const { metadata, spec = {} } = template;
  const { names } = rules;
  const at = `${path}.spec`;
  return [
    ...validateTemplateMeta(template, path, names),
    ...validatePodSpec(spec, at, rules),
    ...validateProfilesMatch(metadata, spec, at, names),
    ...((spec.ephemeralContainers ?? []).length === 0
      ? []
      : [fieldError.forbidden(`${at}.ephemeralContainers`, 'ephemeral containers not allowed in pod template')]),
  ];
}

/** Validates the metadata of a pod template; the paths of its errors leave out `metadata`. */
export function validateTemplateMeta(
  { metadata, spec = {} }: PodTemplateSpec,
  path: string,
  names: Names,
): FieldError[] {
  const { labels = {}, annotations = {} } = metadata ?? {};
  return [
    ...validateLabels(labels, `${path}.labels`),
    ...validateAnnotations(annotations, `${path}.annotations`),
    ...validatePodAnnotations(annotations, spec, `${path}.annotations`, names),
  ];
}

/** Validates a pod beyond its schema. */
export function validatePod(metadata: ObjectMeta, spec: PodSpec, rules: PodValidationContext): FieldError[] {
  const images = (list: PodSpec['containers'], field: string) => eachOf(list, `spec.${field}`, validatePodImage);
  return [
    ...validatePodAnnotations(metadata.annotations ?? {}, spec, 'metadata.annotations', rules.names),
    ...validatePodSpec(spec, 'spec', { ...rules, pod: metadata.name ?? '' }),
    ...(spec.serviceAccountName ? [] : rejectTokens(spec)),
    ...images(spec.containers, 'containers'),
    ...images(spec.initContainers, 'initContainers'),
  ];
}

/** Rejects projected service account tokens in a pod without a service account. */
const rejectTokens = ({ volumes }: PodSpec): FieldError[] =>
  eachOf(volumes, 'spec.volumes', ({ projected }, at) =>
    eachOf(projected?.sources ?? [], `${at}.projected.sources`, ({ serviceAccountToken }, place) =>
      serviceAccountToken === undefined
        ? []
        : [
            fieldError.forbidden(
              `${place}.serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          ],
    ),
  );

/** Validates what applies on create only. */
export function validateNewPod(metadata: ObjectMeta, spec: PodSpec, names: Names): FieldError[] {
  const errors: FieldError[] = [];
  if ((spec.ephemeralContainers ?? []).length > 0) {
    errors.push(fieldError.forbidden('spec.ephemeralContainers', 'cannot be set on create'));
  }
  if (spec.nodeName && (spec.schedulingGates ?? []).length > 0) {
    const why = 'cannot be set until all schedulingGates have been cleared';
    errors.push(fieldError.forbidden('spec.nodeName', why));
  }
  return [...errors, ...validateProfilesMatch(metadata, spec, 'spec', names)];
}
