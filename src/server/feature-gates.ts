import { type FeatureGate, type FeatureName, type Features, featureGates, featureList } from '../meta/index.ts';
import { didYouMean } from './suggest.ts';

/** The gates that switch a whole stage. */
const ofStage: { readonly [stage in FeatureGate['stage']]?: FeatureName } = { alpha: 'AllAlpha', beta: 'AllBeta' };

const gateOf = (name: string): FeatureGate | undefined => featureList.find(([known]) => known === name)?.[1];

/** What is wrong with switching a gate so; undefined when nothing is. */
export function checkGate(name: string, on: boolean): string | undefined {
  const gate = gateOf(name);
  if (gate === undefined) {
    return `names an unknown feature ${JSON.stringify(name)}${didYouMean(name, Object.keys(featureGates))}`;
  }
  return gate.locked && on !== gate.default ? `cannot switch ${name}: it is locked to ${gate.default}` : undefined;
}

/** Advice on switches that will be gone one day. */
export function gateWarnings(switched: ReadonlyMap<string, boolean>): string[] {
  return [...switched].flatMap(([name, on]) => {
    const stage = gateOf(name)?.stage;
    if (stage !== 'stable' && stage !== 'deprecated') return [];
    return [`--feature-gates names the ${stage} feature ${name}=${on}: a later release will not know it any more`];
  });
}

/** The state of every gate; a gate's own switch is stronger than that of its stage. */
export function resolveFeatures(switched: ReadonlyMap<string, boolean>): Features {
  const state = ([name, gate]: readonly [FeatureName, FeatureGate]) => {
    const stage = gate.locked ? undefined : ofStage[gate.stage];
    return [name, switched.get(name) ?? (stage && switched.get(stage)) ?? gate.default];
  };
  return Object.fromEntries(featureList.map(state)) as Features;
}

/** A gate and its state by default, as the line of a help says it. */
export const gateUsage = (name: string, { stage, default: on, locked }: FeatureGate): string =>
  `${name}=true|false (${stage.toUpperCase()} - default=${on}${locked ? ', locked' : ''})`;
