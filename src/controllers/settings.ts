import { defaultFeatures, type Features } from '../meta/index.ts';

/** The settings of the controllers, with the defaults of the reference. Durations in ms. */
export interface ControllerSettings {
  readonly features: Features;
  /** The certificates that the root CA publisher publishes in every namespace (PEM); undefined: it publishes nothing. */
  readonly rootCertificates: () => string | undefined;
  /** How many ended pods there may be before the oldest are deleted; 0: any number. */
  readonly terminatedPodThreshold: number;
}

export const defaultSettings: ControllerSettings = {
  features: defaultFeatures,
  rootCertificates: () => undefined,
  terminatedPodThreshold: 12_500,
};
