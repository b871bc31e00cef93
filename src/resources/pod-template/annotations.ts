import { type FieldError, fieldError, getKey, type Names, type ObjectMeta } from '../../meta/index.ts';
import type { Container, EphemeralContainer, PodSpec } from '../../types/core-v1.ts';
import { descendingPath } from '../shared/field-rules.ts';
import type { AppArmorProfileOf, SeccompProfileOf } from './security-context.ts';
import { validateTolerationsText } from './tolerations-annotation.ts';

type Annotations = NonNullable<ObjectMeta['annotations']>;
type Place = readonly [path: string, container: Container | EphemeralContainer];

const LOCAL = 'localhost/';

/** Keys of the pod annotations that have a meaning to the API server, by purpose. */
export const annotationKeys = ({ labels }: Names) => ({
  mirror: `${labels}/config.mirror`,
  tolerations: `scheduler.alpha.${labels}/tolerations`,
  deletionCost: `controller.${labels}/pod-deletion-cost`,
  podSeccomp: `seccomp.security.alpha.${labels}/pod`,
  containerSeccomp: `container.seccomp.security.alpha.${labels}/`,
  appArmor: `container.apparmor.security.beta.${labels}/`,
});

/** All containers of a pod with their paths: init containers, containers, ephemeral containers. */
export function containersOf(spec: PodSpec, path: string): Place[] {
  const lists = {
    initContainers: spec.initContainers,
    containers: spec.containers,
    ephemeralContainers: spec.ephemeralContainers,
  };
  return Object.entries(lists).flatMap(([name, list]) =>
    (list ?? []).map((container, i): Place => [`${path}.${name}[${i}]`, container]),
  );
}

/** Validates the annotations of a pod or pod template; `path` is that of the annotations. */
export function validatePodAnnotations(
  annotations: Annotations,
  spec: PodSpec,
  path: string,
  names: Names,
): FieldError[] {
  const keys = annotationKeys(names);
  let containers: ReadonlySet<string | undefined> | undefined;
  const errors: FieldError[] = [];
  const mirror = getKey(annotations, keys.mirror);
  if (mirror !== undefined && !spec.nodeName) {
    const why = 'must set spec.nodeName if mirror pod annotation is set';
    errors.push(fieldError.invalid(`${path}[${keys.mirror}]`, mirror, why));
  }
  const cost = getKey(annotations, keys.deletionCost);
  if (cost !== undefined && !isDeletionCost(cost)) {
    errors.push(fieldError.invalid(`${path}[${keys.deletionCost}]`, cost, 'must be a 32bit integer'));
  }
  const tolerations = getKey(annotations, keys.tolerations) ?? '';
  errors.push(...validateTolerationsText(tolerations, keys.tolerations, path, names));
  for (const [key, value] of Object.entries(annotations)) {
    if (key === keys.podSeccomp || key.startsWith(keys.containerSeccomp)) {
      errors.push(...validateSeccompText(value, `${path}.${key}`));
    } else if (key.startsWith(keys.appArmor)) {
      const name = key.slice(keys.appArmor.length);
      containers ??= new Set(containersOf(spec, '').map(([, container]) => container.name));
      if (!containers.has(name)) {
        errors.push(fieldError.invalid(`${path}[${key}]`, name, 'container not found'));
      }
      errors.push(...validateAppArmorText(value, `${path}[${key}]`));
    }
  }
  return errors;
}

/** Whether a text is a 32-bit integer without a plus sign or leading zeros. */
const isDeletionCost = (text: string): boolean =>
  /^(?:0|[1-9][0-9]*|-[0-9]+)$/.test(text) && Number(text) === (Number(text) | 0);

/** Validates the name of a seccomp profile, as annotations have it. */
export function validateSeccompText(profile: string, path: string): FieldError[] {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return [];
  if (profile.startsWith(LOCAL)) return descendingPath(path, profile.slice(LOCAL.length));
  return [fieldError.invalid(path, profile, 'must be a valid seccomp profile')];
}

/** Validates the name of an AppArmor profile, as annotations have it; empty: none. */
export function validateAppArmorText(profile: string, path: string): FieldError[] {
  if (['', 'runtime/default', 'unconfined'].includes(profile) || profile.startsWith(LOCAL)) return [];
  return [fieldError.invalid(path, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`)];
}

/** Requires that a seccomp or AppArmor profile given as both a field and an annotation has the same value in both. */
export function validateProfilesMatch(
  metadata: Pick<ObjectMeta, 'annotations'> | undefined,
  spec: PodSpec,
  path: string,
  names: Names,
): FieldError[] {
  const { annotations } = metadata ?? {};
  if (annotations === undefined) return [];
  const keys = annotationKeys(names);
  const places = containersOf(spec, path);
  const whole = spec.securityContext;
  const errors = [
    ...matchSeccomp(whole?.seccompProfile, getKey(annotations, keys.podSeccomp), `${path}.securityContext`),
    ...places.flatMap(([at, { name = '', securityContext }]) =>
      matchSeccomp(
        securityContext?.seccompProfile,
        getKey(annotations, keys.containerSeccomp + name),
        `${at}.securityContext`,
      ),
    ),
  ];
  if (spec.os?.name === 'windows') return errors;
  return [
    ...errors,
    ...places.flatMap(([at, { name = '', securityContext }]) =>
      matchAppArmor(
        securityContext?.appArmorProfile ?? whole?.appArmorProfile,
        getKey(annotations, keys.appArmor + name),
        `${at}.securityContext`,
      ),
    ),
  ];
}

const matchSeccomp = (profile: SeccompProfileOf | undefined, text: string | undefined, path: string): FieldError[] =>
  match('seccomp', profile, text === 'docker/default' ? 'runtime/default' : text, `${path}.seccompProfile`);

const matchAppArmor = (profile: AppArmorProfileOf | undefined, text: string | undefined, path: string): FieldError[] =>
  match('apparmor', profile, text, `${path}.appArmorProfile`);

function match(
  what: string,
  profile: SeccompProfileOf | undefined,
  text: string | undefined,
  path: string,
): FieldError[] {
  if (profile === undefined || text === undefined) return [];
  const other = [fieldError.forbidden(`${path}.type`, `${what} type in annotation and field must match`)];
  if (profile.type === 'Unconfined') return text === 'unconfined' ? [] : other;
  if (profile.type === 'RuntimeDefault') return text === 'runtime/default' ? [] : other;
  if (profile.type !== 'Localhost') return [];
  if (!text.startsWith(LOCAL)) return other;
  if (text.slice(LOCAL.length) === profile.localhostProfile) return [];
  return [fieldError.forbidden(`${path}.localhostProfile`, `${what} profile in annotation and field must match`)];
}

/** Validates an update of annotations: some are immutable. */
export function validateAnnotationsUpdate(
  annotations: Annotations,
  old: Annotations,
  path: string,
  names: Names,
): FieldError[] {
  const keys = annotationKeys(names);
  const errors: FieldError[] = [];
  const check = (key: string, what: string) => {
    const at = `${path}[${key}]`;
    if (key.startsWith(keys.appArmor)) errors.push(fieldError.forbidden(at, `may not ${what} AppArmor annotations`));
    if (key === keys.mirror) errors.push(fieldError.forbidden(at, `may not ${what} mirror pod annotation`));
  };
  for (const [key, value] of Object.entries(old))
    if (getKey(annotations, key) !== value) check(key, 'remove or update');
  for (const key of Object.keys(annotations)) if (!Object.hasOwn(old, key)) check(key, 'add');
  return errors;
}
