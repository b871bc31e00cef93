/** The settings of the controllers, with the defaults of the reference. Durations in ms. */
export interface ControllerSettings {
  /** The certificates that the root CA publisher publishes in every namespace (PEM); undefined: it publishes nothing. */
  readonly rootCertificates: () => string | undefined;
}

export const defaultSettings: ControllerSettings = {
  rootCertificates: () => undefined,
};
