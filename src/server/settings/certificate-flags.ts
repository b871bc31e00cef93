import { flag } from './flag.ts';
import * as type from './flag-types.ts';

/** The flags of the certificates and tokens that controllers publish, sign and clean up. */
export const certificateFlags = {
  rootCaFile: flag(
    'Identity',
    type.file,
    undefined,
    'CA bundle in PEM with which pods verify this server. It is published in every namespace and in the token secrets of service accounts. If not set, it is the authority of the serving certificate, or the certificates of `--tls-cert-file`. A changed file takes effect within a minute.',
  ),
  clusterSigningCertFile: flag(
    'Identity',
    type.file,
    undefined,
    'CA certificate in PEM that signs approved certificate signing requests. If not set, it is the authority of the data directory, whose client certificates this server accepts. A changed file takes effect within a minute.',
  ),
  clusterSigningKeyFile: flag(
    'Identity',
    type.file,
    undefined,
    'Private key of `--cluster-signing-cert-file` in PEM. Others must not have access to the file.',
  ),
  clusterSigningDuration: flag(
    'Identity',
    type.duration,
    365 * 24 * 3_600_000,
    'Maximum validity of the certificates signed for certificate signing requests; a request may ask for less.',
  ),
  legacyServiceAccountTokenCleanUpPeriod: flag(
    'Identity',
    type.duration,
    365 * 24 * 3_600_000,
    'How long an auto-generated service account token in a secret may be unused before it is marked as invalid; it is deleted after the same time again.',
  ),
};
