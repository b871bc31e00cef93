import { didYouMean } from './suggest.ts';

/** A feature that can be switched. A locked one keeps its default; naming it with that value is allowed. */
export interface FeatureGate {
  readonly stage: 'alpha' | 'beta' | 'stable';
  readonly default: boolean;
  readonly locked: boolean;
  readonly help: string;
}

export const featureGates = {
  AllowUnsafeMalformedObjectDeletion: {
    stage: 'alpha',
    default: false,
    locked: false,
    help: 'stored objects that cannot be read may be deleted by who asks for just that',
  },
  APIResponseCompression: {
    stage: 'beta',
    default: true,
    locked: false,
    help: 'large answers are compressed for clients that accept gzip',
  },
} as const satisfies { [name: string]: FeatureGate };

type FeatureName = keyof typeof featureGates;
export type Features = { readonly [name in FeatureName]: boolean };

const gates: readonly (readonly [string, FeatureGate])[] = Object.entries(featureGates);

/** What is wrong with switching a gate so; undefined when nothing is. `AllAlpha` and `AllBeta` switch every gate of a stage. */
export function checkGate(name: string, on: boolean): string | undefined {
  if (name === 'AllAlpha' || name === 'AllBeta') return undefined;
  const gate = gates.find(([known]) => known === name)?.[1];
  if (gate === undefined) {
    const known = gates.map(([word]) => word);
    return `names an unknown feature ${JSON.stringify(name)}${didYouMean(name, [...known, 'AllAlpha', 'AllBeta'])}`;
  }
  return gate.locked && on !== gate.default ? `cannot switch ${name}: it is locked to ${gate.default}` : undefined;
}

/** The state of every gate; a gate's own switch is stronger than that of its stage. */
export function resolveFeatures(switched: ReadonlyMap<string, boolean>): Features {
  const state = ([name, gate]: readonly [string, FeatureGate]) => {
    const stage = { alpha: 'AllAlpha', beta: 'AllBeta', stable: '' }[gate.stage];
    return [name, switched.get(name) ?? (gate.locked ? undefined : switched.get(stage)) ?? gate.default];
  };
  return Object.fromEntries(gates.map(state)) as Features;
}
