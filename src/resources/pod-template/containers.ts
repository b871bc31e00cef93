import { dns1123Label, type FieldError, fieldError, inRange, portName } from '../../meta/index.ts';
import { isSidecar } from '../../rules/index.ts';
import type { Container, ContainerPort, EphemeralContainer, PodSpec } from '../../types/core-v1.ts';
import { byRule, eachOf, oneOf, type PodSpecContext } from '../shared/field-rules.ts';
import { validateEnv, validateEnvFrom } from './env.ts';
import { type ProbeKind, validateLifecycle, validateProbe } from './probes.ts';
import { validateContainerResources, validateResizePolicy } from './resources.ts';
import { validateContainerSecurity } from './security-context.ts';
import { type Volumes, validateDevices, validateMounts } from './volume-mounts.ts';

/** The part of a pod that the validation of its containers uses. */
export interface PodScope {
  readonly spec: PodSpec;
  readonly volumes: Volumes;
  /** Names of the pod's resource claims. */
  readonly claims: ReadonlySet<string>;
  readonly context: PodSpecContext;
}

const probes: readonly ProbeKind[] = ['livenessProbe', 'readinessProbe', 'startupProbe'];
/** Fields of containers that are validated where they may be set only. */
const whileRunning: ReadonlySet<string> = new Set(['lifecycle', ...probes]);

/** Validates `containers`. */
export function validateContainers(scope: PodScope, path: string): FieldError[] {
  const { containers } = scope.spec;
  const errors = eachOf(containers, path, (container, at) => [
    ...validateAny(container, scope, at),
    ...validateRunning(container, scope, at),
    ...(container.restartPolicy === undefined
      ? []
      : [fieldError.forbidden(`${at}.restartPolicy`, 'may not be set for non-init containers')]),
  ]);
  return [...errors, ...validateHostPorts(containers ?? [], path)];
}

/** Validates `initContainers`, restartable ones (sidecars) included. */
export function validateInitContainers(scope: PodScope, path: string): FieldError[] {
  const { initContainers, containers } = scope.spec;
  const usedNames = new Set((containers ?? []).map(({ name = '' }) => name));
  return eachOf(initContainers, path, (container, at) => {
    const { name = '', restartPolicy } = container;
    const errors = validateAny(container, scope, at);
    if (restartPolicy !== undefined) errors.push(...oneOf(`${at}.restartPolicy`, restartPolicy, ['Always']));
    if (usedNames.has(name)) errors.push(fieldError.duplicate(`${at}.name`, name));
    else if (name !== '') usedNames.add(name);
    errors.push(...validateHostPorts([container], path));
    if (isSidecar(container)) return [...errors, ...validateRunning(container, scope, at)];
    for (const field of ['lifecycle', ...probes] as const) {
      if (container[field] === undefined) continue;
      const why = 'may not be set for init containers without restartPolicy=Always';
      errors.push(fieldError.forbiddenSubtree(`${at}.${field}`, why));
    }
    return errors;
  });
}

const notForEphemeral = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;
const NOT_EPHEMERAL = 'cannot be set for an Ephemeral Container';

/** Validates `ephemeralContainers`. */
export function validateEphemeralContainers(scope: PodScope, path: string): FieldError[] {
  const { spec } = scope;
  const others = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name = '' }) => name));
  const usedNames = new Set(others);
  return eachOf(spec.ephemeralContainers, path, (container, at) => {
    const { name = '', targetContainerName: target = '' } = container;
    const errors = [...validateAny(container, scope, at), ...validatePodImage(container, at)];
    if (usedNames.has(name)) errors.push(fieldError.duplicate(`${at}.name`, name));
    usedNames.add(name);
    if (target !== '' && !others.has(target)) errors.push(fieldError.notFound(`${at}.targetContainerName`, target));
    for (const field of notForEphemeral) {
      const value = container[field];
      if (value === undefined || (field === 'resources' && Object.keys(value).length === 0)) continue;
      const forbid = whileRunning.has(field) ? fieldError.forbiddenSubtree : fieldError.forbidden;
      errors.push(forbid(`${at}.${field}`, NOT_EPHEMERAL));
    }
    container.volumeMounts?.forEach((mount, i) => {
      for (const field of ['subPath', 'subPathExpr'] as const) {
        if (mount[field]) errors.push(fieldError.forbidden(`${at}.volumeMounts[${i}].${field}`, NOT_EPHEMERAL));
      }
    });
    return errors;
  });
}

/** Validates the image of a container of a pod; templates may leave it empty. */
export function validatePodImage({ image = '' }: Container | EphemeralContainer, path: string): FieldError[] {
  if (image.trim() === image) return [];
  return [fieldError.invalid(`${path}.image`, image, 'must not have leading or trailing whitespace')];
}

/** Validates what applies to all types of containers. */
function validateAny(container: Container | EphemeralContainer, scope: PodScope, path: string): FieldError[] {
  const { spec, volumes, claims, context } = scope;
  const { name = '', image = '' } = container;
  const errors = name === '' ? [] : byRule(`${path}.name`, name, dns1123Label);
  if (image === '') errors.push(fieldError.required(`${path}.image`));
  errors.push(
    ...validatePorts(container.ports, `${path}.ports`),
    ...validateEnv(container.env, `${path}.env`),
    ...validateEnvFrom(container.envFrom, `${path}.envFrom`),
    ...validateMounts(container, volumes, `${path}.volumeMounts`),
    ...validateDevices(container, volumes, `${path}.volumeDevices`),
    ...validateContainerResources(container.resources, `${path}.resources`, claims, context),
    ...validateResizePolicy(container.resizePolicy, spec.restartPolicy, `${path}.resizePolicy`),
    ...validateContainerSecurity(
      container.securityContext,
      spec.hostUsers !== false,
      `${path}.securityContext`,
      context,
    ),
  );
  return errors;
}

/** Validates what applies to containers and to sidecars. */
function validateRunning(container: Container, { spec }: PodScope, path: string): FieldError[] {
  const grace = spec.terminationGracePeriodSeconds;
  return [
    ...validateLifecycle(container.lifecycle, grace, spec.os?.name, `${path}.lifecycle`),
    ...probes.flatMap((kind) => validateProbe(container[kind], kind, grace, path)),
  ];
}

function validatePorts(ports: readonly ContainerPort[] | undefined, path: string): FieldError[] {
  const names = new Set<string>();
  return eachOf(ports, path, ({ name = '', containerPort = 0 }, at) => {
    const errors: FieldError[] = [];
    if (name !== '') {
      const ownErrors = byRule(`${at}.name`, name, portName);
      if (ownErrors.length > 0) errors.push(...ownErrors);
      else if (names.has(name)) errors.push(fieldError.duplicate(`${at}.name`, name));
      else names.add(name);
    }
    if (containerPort === 0) errors.push(fieldError.required(`${at}.containerPort`));
    for (const why of containerPort === 0 ? [] : inRange(containerPort, 1, 65535)) {
      errors.push(fieldError.invalid(`${at}.containerPort`, containerPort, why));
    }
    return errors;
  });
}

/** Requires that no two containers use the same host port. */
function validateHostPorts(containers: readonly Container[], path: string): FieldError[] {
  const usedNames = new Set<string>();
  return containers.flatMap(({ ports }, i) =>
    (ports ?? []).flatMap(({ hostPort = 0, hostIP = '', protocol = '' }, j) => {
      if (hostPort === 0) return [];
      const port = `${protocol}/${hostIP}/${hostPort}`;
      const again = usedNames.has(port);
      usedNames.add(port);
      return again ? [fieldError.duplicate(`${path}[${i}].ports[${j}].hostPort`, port)] : [];
    }),
  );
}
