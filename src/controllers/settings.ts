import { defaultFeatures, type Features } from '../meta/index.ts';

/** The settings of the controllers, with the defaults of the reference. Durations in ms. */
export interface ControllerSettings {
  readonly features: Features;
  /** The certificates that the root CA publisher publishes in every namespace (PEM); undefined: it publishes nothing. */
  readonly rootCertificates: () => string | undefined;
}

export const defaultSettings: ControllerSettings = {
  features: defaultFeatures,
  rootCertificates: () => undefined,
};
