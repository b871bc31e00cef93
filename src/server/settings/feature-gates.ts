import { type FeatureGate, type FeatureName, type Features, featureList, inertGates } from '../../meta/index.ts';
import { didYouMean } from './suggest.ts';

/** The gates that set all features of a stage. */
const ofStage: { readonly [stage in FeatureGate['stage']]?: FeatureName } = { alpha: 'AllAlpha', beta: 'AllBeta' };

const gates: ReadonlyMap<string, FeatureGate> = new Map(featureList);

/** The error of setting a gate to a value; undefined when it is valid. */
export function checkGate(name: string, on: boolean): string | undefined {
  const gate = gates.get(name);
  if (gate === undefined) {
    return `names an unknown feature ${JSON.stringify(name)}${didYouMean(name, [...gates.keys()])}`;
  }
  if (!gate.locked || on === gate.default) return undefined;
  return `cannot set feature gate ${name} to ${on}, feature is locked to ${gate.default}`;
}

/** Warnings about set gates without effect, or with removal in a later release. */
export function gateWarnings(switched: ReadonlyMap<string, boolean>): string[] {
  return [...switched].flatMap(([name, on]) => {
    const { stage, default: byDefault } = gates.get(name) ?? {};
    if (Object.hasOwn(inertGates, name) && on !== byDefault) {
      return [`--feature-gates ${name}=${on} has no effect: nothing in this server depends on it`];
    }
    if (stage !== 'stable' && stage !== 'deprecated') return [];
    return [`--feature-gates names the ${stage} feature ${name}=${on}: a later release will not know it any more`];
  });
}

/** The state of every gate; its own setting takes precedence over AllAlpha and AllBeta. */
export function resolveFeatures(switched: ReadonlyMap<string, boolean>): Features {
  const state = ([name, gate]: readonly [string, FeatureGate]) => {
    const stage = gate.locked ? undefined : ofStage[gate.stage];
    return [name, switched.get(name) ?? (stage && switched.get(stage)) ?? gate.default];
  };
  return Object.fromEntries(featureList.map(state)) as Features;
}

/** The line of a gate in the help. */
export const gateUsage = (name: string, { stage, default: on, locked }: FeatureGate): string =>
  `${name}=true|false (${stage.toUpperCase()} - default=${on}${locked ? ', locked' : ''})`;
