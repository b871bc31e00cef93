/** A feature gate. */
export interface FeatureGate {
  readonly stage: 'alpha' | 'beta' | 'stable' | 'deprecated';
  readonly default: boolean;
  /** It cannot be changed; setting it to its default is allowed. */
  readonly locked: boolean;
  /** The behaviour while it is on. */
  readonly help: string;
}
