/** A feature that can be switched. */
export interface FeatureGate {
  readonly stage: 'alpha' | 'beta' | 'stable' | 'deprecated';
  readonly default: boolean;
  /** It keeps its default; naming it with that value is allowed. */
  readonly locked: boolean;
  /** What holds while it is on. */
  readonly help: string;
}
