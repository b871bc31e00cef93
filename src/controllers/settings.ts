/** A token of a service account that is kept in a secret. */
export interface SecretToken {
  readonly namespace: string;
  readonly secret: string;
  /** The service account. */
  readonly name: string;
  readonly uid: string;
}

/** The settings of the controllers, with the defaults of the reference. Durations in ms. */
export interface ControllerSettings {
  /** The certificates that the root CA publisher publishes in every namespace (PEM); undefined: it publishes nothing. */
  readonly rootCertificates: () => string | undefined;
  /** Signs a token; undefined: secrets get none. */
  readonly signSecretToken: ((token: SecretToken) => Promise<string>) | undefined;
}

export const defaultSettings: ControllerSettings = {
  rootCertificates: () => undefined,
  signSecretToken: undefined,
};
