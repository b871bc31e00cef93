import { flag } from './flag.ts';
import * as type from './flag-types.ts';

/** The flags of the certificates and tokens that controllers publish, sign and clean up. */
export const certificateFlags = {
  rootCaFile: flag(
    'Identity',
    type.file,
    undefined,
    'Certificate authorities in PEM by which pods verify this server. They are published in every namespace and with the tokens of service accounts. Without them, they are the authority of the serving certificate, or the certificates of `--tls-cert-file`. A changed file takes effect within a minute.',
  ),
  clusterSigningCertFile: flag(
    'Identity',
    type.file,
    undefined,
    'Certificate in PEM of the authority that signs approved certificate signing requests. Without one it is the authority of the data directory, whose client certificates this server accepts. A changed file takes effect within a minute.',
  ),
  clusterSigningKeyFile: flag(
    'Identity',
    type.file,
    undefined,
    'Private key of `--cluster-signing-cert-file`, in PEM, closed to others.',
  ),
  clusterSigningDuration: flag(
    'Identity',
    type.duration,
    365 * 24 * 3_600_000,
    'How long certificates are valid that are signed for certificate signing requests, unless the request asks for less.',
  ),
  legacyServiceAccountTokenCleanUpPeriod: flag(
    'Identity',
    type.duration,
    365 * 24 * 3_600_000,
    'How long a generated token of a service account in a secret may be unused before it is marked as invalid, and how long it is then kept.',
  ),
};
