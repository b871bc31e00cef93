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
  const found = name === '' ? [fieldError.required(`${path}.path`)] : localPath(`${path}.path`, name);
  if (fieldRef !== undefined) {
    found.push(...validateFieldRef(fieldRef, fileFields, `${path}.fieldRef`));
    if (resourceFieldRef !== undefined) {
      const why = 'fieldRef and resourceFieldRef can not be specified simultaneously';
      found.push(fieldError.invalid(path, 'resource', why));
    }
  } else if (resourceFieldRef !== undefined) {
    found.push(...validateResourceRef(resourceFieldRef, true, `${path}.resourceFieldRef`));
  } else found.push(fieldError.required(path, 'one of fieldRef and resourceFieldRef is required'));
  return [...found, ...fileMode(`${path}.mode`, file.mode)];
}

/** Validates a projected volume: no two sources may have the same path. */
export function validateProjected(
  { sources, defaultMode }: Infer<typeof ProjectedVolumeSource>,
  path: string,
): FieldError[] {
  const taken = new Set<string>();
  const claim = (file: string, shown: string): FieldError[] => {
    const again = file !== '' && taken.has(file);
    if (file !== '') taken.add(file);
    return again ? [fieldError.invalid(path, shown, 'conflicting duplicate paths')] : [];
  };
  return [
    ...fileMode(`${path}.defaultMode`, defaultMode),
    ...eachOf(sources ?? [], `${path}.sources`, (source, at) => validateProjection(source, at, path, claim)),
  ];
}

type Claim = (file: string, shown: string) => FieldError[];

function validateProjection(
  source: Infer<typeof VolumeProjection>,
  at: string,
  volume: string,
  claim: Claim,
): FieldError[] {
  const { secret, configMap, downwardAPI, serviceAccountToken: token, clusterTrustBundle: bundle } = source;
  const found: FieldError[] = [];
  for (const [kind, named] of Object.entries({ secret, configMap })) {
    if (named === undefined) continue;
    const { name = '', items } = named;
    if (name === '') found.push(fieldError.required(`${at}.${kind}.name`));
    found.push(
      ...eachOf(items, `${at}.${kind}.items`, ({ path: file = '', mode }, place) => [
        ...localPath(`${place}.path`, file),
        ...fileMode(`${place}.mode`, mode),
        ...claim(file, name),
      ]),
    );
  }
  for (const file of downwardAPI?.items ?? []) {
    found.push(...validateDownwardFile(file, `${at}.downwardAPI`), ...claim(file.path ?? '', file.path ?? ''));
  }
  if (token !== undefined) found.push(...validateToken(token, `${at}.serviceAccountToken`, volume));
  if (bundle !== undefined) found.push(...validateBundle(bundle, `${at}.clusterTrustBundle`, claim));
  const count = [secret, configMap, downwardAPI, token, bundle].filter((one) => one !== undefined).length;
  if (count > 1) found.push(fieldError.forbidden(at, 'may not specify more than 1 volume type per source'));
  return found;
}

function validateToken(
  { expirationSeconds: seconds = 0, path = '' }: Infer<typeof ServiceAccountTokenProjection>,
  at: string,
  volume: string,
): FieldError[] {
  const field = `${at}.expirationSeconds`;
  const found = path === '' ? [fieldError.required(`${volume}.path`)] : localPath(`${volume}.path`, path);
  if (seconds < MIN_TOKEN_SECONDS) {
    found.push(fieldError.invalid(field, seconds, 'may not specify a duration less than 10 minutes'));
  }
  if (seconds > MAX_TOKEN_SECONDS) {
    found.push(fieldError.invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds'));
  }
  return found;
}

function validateBundle(bundle: Infer<typeof ClusterTrustBundleProjection>, at: string, claim: Claim): FieldError[] {
  const { name, signerName, labelSelector, path = '' } = bundle;
  const found: FieldError[] = [];
  if (name !== undefined && signerName !== undefined) {
    const why = 'only one of name and signerName may be used';
    found.push(fieldError.invalid(at, internalForm(bundle, ClusterTrustBundleProjection), why));
  } else if (name !== undefined) {
    if (name === '') found.push(fieldError.required(`${at}.name`, 'must be a valid object name'));
    for (const why of dns1123Subdomain(name.slice(name.lastIndexOf(':') + 1))) {
      found.push(fieldError.invalid(`${at}.name`, name, `not a valid clustertrustbundlename: ${why}`));
    }
    if (labelSelector !== undefined) {
      const why = 'labelSelector must be unset if name is specified';
      found.push(fieldError.invalid(`${at}.labelSelector`, labelSelector, why));
    }
  } else if (signerName !== undefined) {
    if (signerName === '') found.push(fieldError.required(`${at}.signerName`, 'must be a valid signer name'));
    else found.push(...byRule(`${at}.signerName`, signerName.split('/', 1)[0] as string, dns1123Subdomain));
    found.push(...validateSelectorObject(labelSelector, `${at}.labelSelector`));
  } else found.push(fieldError.required(at, 'either name or signerName must be specified'));
  if (path === '') found.push(fieldError.required(`${at}.path`));
  return [...found, ...localPath(`${at}.path`, path), ...claim(path, path)];
}
