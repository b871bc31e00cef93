import { defaultFeatures, type Features } from '../../meta/index.ts';
import type { CertKeyPair } from '../../pki/index.ts';

/** A token of a service account that is kept in a secret. */
export interface SecretToken {
  readonly namespace: string;
  readonly secret: string;
  /** The service account. */
  readonly name: string;
  readonly uid: string;
}

/** The built-in signers of certificate signing requests, without the prefix of the domain. */
export type SignerName = 'kube-apiserver-client' | 'kube-apiserver-client-kubelet' | 'kubelet-serving';

/** The settings of the controllers, with the defaults of the reference. Durations in ms. */
export interface ControllerSettings {
  readonly features: Features;
  /** The certificates that the root CA publisher publishes in every namespace (PEM); undefined: it publishes nothing. */
  readonly rootCertificates: () => string | undefined;
  /** How many ended pods there may be before the oldest are deleted; 0: any number. */
  readonly terminatedPodThreshold: number;
  /** Signs a token; undefined: secrets get none. */
  readonly signSecretToken: ((token: SecretToken) => Promise<string>) | undefined;
  /** The authority that signs for a signer; undefined: nobody does. */
  readonly signingAuthority: (signer: SignerName) => CertKeyPair | undefined;
  /** The longest validity of a certificate that is signed. */
  readonly signingMs: number;
  /** How long generated tokens in secrets stay valid without being used, and stay invalid before they are deleted. */
  readonly legacyTokenMs: number;
}

export const defaultSettings: ControllerSettings = {
  features: defaultFeatures,
  rootCertificates: () => undefined,
  terminatedPodThreshold: 12_500,
  signSecretToken: undefined,
  signingAuthority: () => undefined,
  signingMs: 365 * 24 * 3_600_000,
  legacyTokenMs: 365 * 24 * 3_600_000,
};
