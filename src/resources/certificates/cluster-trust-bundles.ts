import {
  dns1123Subdomain,
  errorsInSteps,
  type FieldError,
  fieldError,
  type ObjectMeta,
  Pace,
  type Steps,
  shorten,
} from '../../meta/index.ts';
import { eachPemBlock, readCertificate } from '../../pki/index.ts';
import { ClusterTrustBundle } from '../../types/certificates-v1alpha1.ts';
import { ClusterTrustBundle as V1beta1 } from '../../types/certificates-v1beta1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { isNew, unchanged } from '../shared/field-rules.ts';
import { validateSigner } from './certificate-signing-requests.validation.ts';
import { certificateVisits } from './x509.ts';

const MAX_BUNDLE = 1024 * 1024;

export const clusterTrustBundles = resource({
  group: 'certificates.{domain}',
  plural: 'clustertrustbundles',
  kind: 'ClusterTrustBundle',
  version: 'v1alpha1',
  schema: ClusterTrustBundle,
  lifecycle: { introduced: '1.26', deprecated: '1.34', removed: '1.37' },
  versions: [
    { version: 'v1beta1', schema: V1beta1, lifecycle: { introduced: '1.33', deprecated: '1.36', removed: '1.39' } },
  ],
  gate: 'ClusterTrustBundle',
  namespaced: false,
  columns: [name, ['SignerName', ({ spec }) => spec?.signerName ?? ''], age],
  selectableFields: [{ path: 'spec.signerName', value: ({ spec }) => spec?.signerName ?? '' }],
  strategy: {
    unconditionalUpdate: false,
    // The valid names depend on the signer.
    nameRule: () => [],
    validate: ({ metadata, spec: { signerName = '', trustBundle = '' } = {} }) => [
      ...validateName(metadata, signerName),
      ...(signerName === '' ? [] : validateSigner(signerName, 'spec.signerName')),
      ...(isNew({ metadata }) ? validateBundle(trustBundle) : []),
    ],
    validateUpdate: ({ spec }, { spec: old }) => [
      ...(spec?.trustBundle === old?.trustBundle ? [] : validateBundle(spec?.trustBundle ?? '')),
      ...unchanged('spec.signerName', spec?.signerName ?? '', old?.signerName ?? ''),
    ],
  },
});

/**
 * Requires the signer name, with colons, as the prefix of the name; without a signer the name must not contain a colon.
 */
function validateName({ name = '' }: ObjectMeta, signer: string): FieldError[] {
  const path = 'metadata.name';
  const prefix = signer === '' ? '' : `${signer.replaceAll('/', ':')}:`;
  if (signer === '' && name.includes(':')) {
    const why = 'ClusterTrustBundle without signer name must not have ":" in its name';
    return [fieldError.invalid(path, name, why)];
  }
  if (!name.startsWith(prefix)) {
    const why = `ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`;
    return [fieldError.invalid(path, name, why)];
  }
  return dns1123Subdomain(name.slice(prefix.length)).map((why) => fieldError.invalid(path, name, why));
}

const validateBundle = (text: string): FieldError[] => errorsInSteps(() => bundleErrors(text));

/** Validates PEM CA certificates, each once, in steps of a few. Text between the blocks is allowed. */
function* bundleErrors(text: string): Steps<FieldError[]> {
  if (Buffer.byteLength(text) > MAX_BUNDLE) return [fieldError.tooLong('spec.trustBundle', MAX_BUNDLE)];
  const invalid = (why: string) => fieldError.invalid('spec.trustBundle', '<value omitted>', why);
  const errors: FieldError[] = [];
  const places = new Map<string, number[]>();
  const pace = new Pace();
  let i = -1;
  for (const { type, hasHeaders, bytes } of eachPemBlock(text)) {
    i++;
    if (pace.over(certificateVisits)) yield;
    if (type !== 'CERTIFICATE') errors.push(invalid(`entry ${i} has bad block type: ${shorten(type)}`));
    else if (hasHeaders) errors.push(invalid(`entry ${i} has PEM block headers`));
    else {
      const certificate = readCertificate(bytes);
      const key = bytes.toString('base64');
      if (certificate === undefined) errors.push(invalid(`entry ${i} does not parse as X.509`));
      else if (!certificate.ca) errors.push(invalid(`entry ${i} does not have the CA bit set`));
      else if (places.get(key)?.push(i) === undefined) places.set(key, [i]);
    }
  }
  if (errors.length > 0) return errors;
  if (places.size === 0) return [invalid('at least one trust anchor must be provided')];
  return [...places.values()]
    .filter((indices) => indices.length > 1)
    .map((indices) => invalid(`duplicate trust anchor (indices [${indices.join(' ')}])`));
}
