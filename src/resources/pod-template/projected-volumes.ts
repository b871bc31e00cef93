import { dns1123Subdomain, type FieldError, fieldError, validateSelectorObject } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import {
  ClusterTrustBundleProjection,
  type DownwardAPIVolumeFile,
  type ProjectedVolumeSource,
  type ServiceAccountTokenProjection,
  type VolumeProjection,
} from '../../types/core-v1.ts';
import { byRule, eachOf, fileMode, localPath } from '../shared/field-rules.ts';
import { internalForm } from '../shared/internal-go-form.ts';
import { validateFieldRef, validateResourceRef } from './env.ts';

/** Field paths that `fieldRef` of a downward API file supports. */
const fileFields = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

/** Validates a downward API file; its errors have the path of the volume. */
export function validateDownwardFile(file: Infer<typeof DownwardAPIVolumeFile>, path: string): FieldError[] {
  const { path: name = '', fieldRef, resourceFieldRef } = file;
  const errors = name === '' ? [fieldError.required(`${path}.path`)] : localPath(`${path}.path`, name);
  if (fieldRef !== undefined) {
    errors.push(...validateFieldRef(fieldRef, fileFields, `${path}.fieldRef`));
    if (resourceFieldRef !== undefined) {
      const why = 'fieldRef and resourceFieldRef can not be specified simultaneously';
      errors.push(fieldError.invalid(path, 'resource', why));
    }
  } else if (resourceFieldRef !== undefined) {
    errors.push(...validateResourceRef(resourceFieldRef, true, `${path}.resourceFieldRef`));
  } else errors.push(fieldError.required(path, 'one of fieldRef and resourceFieldRef is required'));
  return [...errors, ...fileMode(`${path}.mode`, file.mode)];
}

/** Validates a projected volume: no two sources may have the same path. */
export function validateProjected(
  { sources, defaultMode }: Infer<typeof ProjectedVolumeSource>,
  path: string,
): FieldError[] {
  const usedPaths = new Set<string>();
  const claim = (file: string, text: string): FieldError[] => {
    const again = file !== '' && usedPaths.has(file);
    if (file !== '') usedPaths.add(file);
    return again ? [fieldError.invalid(path, text, 'conflicting duplicate paths')] : [];
  };
  return [
    ...fileMode(`${path}.defaultMode`, defaultMode),
    ...eachOf(sources ?? [], `${path}.sources`, (source, at) => validateProjection(source, at, path, claim)),
  ];
}

type Claim = (file: string, text: string) => FieldError[];

function validateProjection(
  source: Infer<typeof VolumeProjection>,
  at: string,
  volume: string,
  claim: Claim,
): FieldError[] {
  const { secret, configMap, downwardAPI, serviceAccountToken: token, clusterTrustBundle: bundle } = source;
  const errors: FieldError[] = [];
  for (const [kind, projection] of Object.entries({ secret, configMap })) {
    if (projection === undefined) continue;
    const { name = '', items } = projection;
    if (name === '') errors.push(fieldError.required(`${at}.${kind}.name`));
    errors.push(
      ...eachOf(items, `${at}.${kind}.items`, ({ path: file = '', mode }, place) => [
        ...localPath(`${place}.path`, file),
        ...fileMode(`${place}.mode`, mode),
        ...claim(file, name),
      ]),
    );
  }
  for (const file of downwardAPI?.items ?? []) {
    errors.push(...validateDownwardFile(file, `${at}.downwardAPI`), ...claim(file.path ?? '', file.path ?? ''));
  }
  if (token !== undefined) errors.push(...validateToken(token, `${at}.serviceAccountToken`, volume));
  if (bundle !== undefined) errors.push(...validateBundle(bundle, `${at}.clusterTrustBundle`, claim));
  const count = [secret, configMap, downwardAPI, token, bundle].filter((one) => one !== undefined).length;
  if (count > 1) errors.push(fieldError.forbidden(at, 'may not specify more than 1 volume type per source'));
  return errors;
}

function validateToken(
  { expirationSeconds: seconds = 0, path = '' }: Infer<typeof ServiceAccountTokenProjection>,
  at: string,
  volume: string,
): FieldError[] {
  const field = `${at}.expirationSeconds`;
  const errors = path === '' ? [fieldError.required(`${volume}.path`)] : localPath(`${volume}.path`, path);
  if (seconds < MIN_TOKEN_SECONDS) {
    errors.push(fieldError.invalid(field, seconds, 'may not specify a duration less than 10 minutes'));
  }
  if (seconds > MAX_TOKEN_SECONDS) {
    errors.push(fieldError.invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds'));
  }
  return errors;
}

function validateBundle(bundle: Infer<typeof ClusterTrustBundleProjection>, at: string, claim: Claim): FieldError[] {
  const { name, signerName, labelSelector, path = '' } = bundle;
  const errors: FieldError[] = [];
  if (name !== undefined && signerName !== undefined) {
    const why = 'only one of name and signerName may be used';
    errors.push(fieldError.invalid(at, internalForm(bundle, ClusterTrustBundleProjection), why));
  } else if (name !== undefined) {
    if (name === '') errors.push(fieldError.required(`${at}.name`, 'must be a valid object name'));
    for (const why of dns1123Subdomain(name.slice(name.lastIndexOf(':') + 1))) {
      errors.push(fieldError.invalid(`${at}.name`, name, `not a valid clustertrustbundlename: ${why}`));
    }
    if (labelSelector !== undefined) {
      const why = 'labelSelector must be unset if name is specified';
      errors.push(fieldError.invalid(`${at}.labelSelector`, labelSelector, why));
    }
  } else if (signerName !== undefined) {
    if (signerName === '') errors.push(fieldError.required(`${at}.signerName`, 'must be a valid signer name'));
    else errors.push(...byRule(`${at}.signerName`, signerName.split('/', 1)[0] as string, dns1123Subdomain));
    errors.push(...validateSelectorObject(labelSelector, `${at}.labelSelector`));
  } else errors.push(fieldError.required(at, 'either name or signerName must be specified'));
  if (path === '') errors.push(fieldError.required(`${at}.path`));
  return [...errors, ...localPath(`${at}.path`, path), ...claim(path, path)];
}
