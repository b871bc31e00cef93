import {
  configMapKey,
  dns1123Subdomain,
  envVarName,
  type FieldError,
  fieldError,
  parseQuantity,
  qualifiedName,
} from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { EnvFromSource, EnvVar, ObjectFieldSelector, ResourceFieldSelector } from '../../types/core-v1.ts';
import { byRule, eachOf } from '../shared/field-rules.ts';

/** Field paths that `fieldRef` of an environment variable supports. */
const envFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** Field paths that `fieldRef` supports in environment variables or in downward API files. */
const knownFields = new Set([
  ...envFields,
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

const shownResources = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const hugeResources = ['limits.hugepages-', 'requests.hugepages-'];

export function validateEnv(variables: readonly EnvVar[] | undefined, path: string): FieldError[] {
  return eachOf(variables, path, ({ name = '', value = '', valueFrom }, at) => {
    const errors = name === '' ? [] : byRule(`${at}.name`, name, envVarName);
    return valueFrom === undefined ? errors : [...errors, ...validateSource(valueFrom, value, `${at}.valueFrom`)];
  });
}

function validateSource(source: NonNullable<EnvVar['valueFrom']>, value: string, path: string): FieldError[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = source;
  const errors: FieldError[] = [];
  if (fieldRef !== undefined) errors.push(...validateFieldRef(fieldRef, envFields, `${path}.fieldRef`));
  if (resourceFieldRef !== undefined) {
    errors.push(...validateResourceRef(resourceFieldRef, false, `${path}.resourceFieldRef`));
  }
  for (const [name, ref] of Object.entries({ configMapKeyRef, secretKeyRef })) {
    if (ref === undefined) continue;
    errors.push(...byRule(`${path}.${name}.name`, ref.name ?? '', dns1123Subdomain));
    if (ref.key) errors.push(...byRule(`${path}.${name}.key`, ref.key, configMapKey));
  }
  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef].filter((ref) => ref !== undefined).length;
  if (count === 0) {
    const why = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
    errors.push(fieldError.invalid(path, '', why));
  } else if (value !== '') {
    errors.push(fieldError.invalid(path, '', 'may not be specified when `value` is not empty'));
  } else if (count > 1) {
    errors.push(fieldError.invalid(path, '', 'may not have more than one field specified at a time'));
  }
  return errors;
}

/** Validates a `fieldRef`; `values` are the field paths supported here, in alphabetical order. */
export function validateFieldRef(
  { apiVersion = '', fieldPath = '' }: Infer<typeof ObjectFieldSelector>,
  values: readonly string[],
  path: string,
): FieldError[] {
  if (apiVersion === '') return [fieldError.required(`${path}.apiVersion`)];
  if (fieldPath === '') return [fieldError.required(`${path}.fieldPath`)];
  const unknown = (why: string) => [
    fieldError.invalid(`${path}.fieldPath`, fieldPath, `error converting fieldPath: ${why}`),
  ];
  if (apiVersion !== 'v1') return unknown(`unsupported pod version: ${apiVersion}`);
  const [, whole = '', key] = /^(.+?)\['(.*)'\]$/s.exec(fieldPath) ?? [];
  if (key !== undefined) {
    if (whole === 'metadata.annotations') return byRule(path, key.toLowerCase(), qualifiedName);
    if (whole === 'metadata.labels') return byRule(path, key, qualifiedName);
    return unknown(`field label does not support subscript: ${fieldPath}`);
  }
  const field = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
  if (!knownFields.has(field)) return unknown(`field label not supported: ${fieldPath}`);
  return values.includes(field) ? [] : [fieldError.notSupported(`${path}.fieldPath`, field, values)];
}

/** Divisors of memory, ephemeral storage and huge pages. */
const sizes = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];
const sizeRule = (what: string): string =>
  `only divisor's values ${sizes.join(', ')} are supported with the ${what} resource`;

/** The supported divisors of a resource, and the description used in the error. */
const divisors: readonly (readonly [suffix: RegExp, known: readonly string[], why: string])[] = [
  [/\.cpu$/, ['1m', '1'], "only divisor's values 1m and 1 are supported with the cpu resource"],
  [/\.memory$/, sizes, sizeRule('memory')],
  [/\.ephemeral-storage$/, sizes, sizeRule('local ephemeral storage')],
  [/^(?:limits|requests)\.hugepages-/, sizes, sizeRule('hugepages')],
];

/** Validates a `resourceFieldRef`; in a volume it must name the container. */
export function validateResourceRef(
  { containerName = '', resource = '', divisor = '0' }: Infer<typeof ResourceFieldSelector>,
  inVolume: boolean,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const huge = hugeResources.some((prefix) => resource.startsWith(prefix));
  if (inVolume && containerName === '') errors.push(fieldError.required(`${path}.containerName`));
  else if (resource === '') errors.push(fieldError.required(`${path}.resource`));
  else if (!shownResources.includes(resource) && !huge) {
    errors.push(fieldError.notSupported(`${path}.resource`, resource, shownResources));
  }
  if (parseQuantity(divisor).nano === 0n || !(huge || shownResources.includes(resource))) return errors;
  const rule = divisors.find(([suffix]) => suffix.test(resource));
  if (rule !== undefined && !rule[1].includes(divisor))
    errors.push(fieldError.invalid(`${path}.divisor`, resource, rule[2]));
  return errors;
}

export function validateEnvFrom(
  sources: readonly Infer<typeof EnvFromSource>[] | undefined,
  path: string,
): FieldError[] {
  return eachOf(sources, path, ({ prefix = '', configMapRef, secretRef }, at) => {
    const errors = prefix === '' ? [] : byRule(`${at}.prefix`, prefix, envVarName);
    for (const [name, ref] of Object.entries({ configMapRef, secretRef })) {
      if (ref === undefined) continue;
      const field = `${at}.${name}.name`;
      errors.push(...(ref.name ? byRule(field, ref.name, dns1123Subdomain) : [fieldError.required(field)]));
    }
    if (configMapRef === undefined && secretRef === undefined) {
      errors.push(fieldError.invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    } else if (configMapRef !== undefined && secretRef !== undefined) {
      errors.push(fieldError.invalid(path, '', 'may not have more than one field specified at a time'));
    }
    return errors;
  });
}
