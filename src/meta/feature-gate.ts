/** A feature gate. */
export interface FeatureGate {
  readonly stage: 'alpha' | 'beta' | 'stable' | 'deprecated';
  readonly default: boolean;
  /** Whether the gate is fixed: it may only be set to its default. */
  readonly locked: boolean;
  /** The effect of the gate. */
  readonly help: string;
}
