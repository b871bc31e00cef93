import {
  type FeatureGate,
  type FeatureName,
  type Features,
  featureList,
  formatRelease,
  gatesIn,
  inertGates,
  type Release,
} from '../../meta/index.ts';
import { type FlagType, switches } from './flag-types.ts';
import { type ReleaseSettings, servedReleases } from './release-flags.ts';
import { didYouMean } from './suggest.ts';

type Switches = ReadonlyMap<string, boolean>;

/** The settings that decide about features. */
export interface FeatureSettings extends ReleaseSettings {
  readonly featureGates: Switches;
}

/** The gates that set all features of a stage. */
const ofStage: { readonly [stage in FeatureGate['stage']]?: FeatureName } = { alpha: 'AllAlpha', beta: 'AllBeta' };

const known: ReadonlySet<string> = new Set(featureList.map(([name]) => name));

/** The error of the name of a gate; undefined when this server has the gate. */
function checkGate(name: string): string | undefined {
  if (known.has(name)) return undefined;
  return `names an unknown feature ${JSON.stringify(name)}${didYouMean(name, [...known])}`;
}

const gateSwitches = switches(checkGate);

/** Settings of gates by name. As in the reference server, names may begin with the component `kube:`. */
export const featureSwitches: FlagType<Switches> = {
  ...gateSwitches,
  parse: (value) => gateSwitches.parse(value.replace(/(?<=^|,)\s*kube:/g, '')),
};

/** The errors of gates that cannot be set as they are in a release. */
export function gateProblems(switched: Switches, release: Release): string[] {
  const gates = gatesIn(release);
  return [...switched].flatMap(([name, on]) => {
    const gate = gates.get(name);
    if (gate === undefined) {
      return [`cannot set feature gate ${name} to ${on}, release ${formatRelease(release)} does not have the feature`];
    }
    if (!gate.locked || on === gate.default) return [];
    return [`cannot set feature gate ${name} to ${on}, feature is locked to ${gate.default}`];
  });
}

/** Warnings about set gates without effect, or with removal in a later release. */
export function gateWarnings(settings: FeatureSettings): string[] {
  const gates = gatesIn(servedReleases(settings).emulated);
  return [...settings.featureGates].flatMap(([name, on]) => {
    const { stage, default: byDefault } = gates.get(name) ?? {};
    if (Object.hasOwn(inertGates, name) && on !== byDefault) {
      return [`--feature-gates ${name}=${on} has no effect: nothing in this server depends on it`];
    }
    if (stage !== 'stable' && stage !== 'deprecated') return [];
    return [`--feature-gates names the ${stage} feature ${name}=${on}: a later release will not know it any more`];
  });
}

/** The state of every gate in the served release; its own setting takes precedence over AllAlpha and AllBeta. */
export function resolveFeatures(settings: FeatureSettings): Features {
  const { featureGates: switched } = settings;
  const state = ([name, gate]: readonly [string, FeatureGate | undefined]) => {
    if (gate === undefined) return [name, false];
    const stage = gate.locked ? undefined : ofStage[gate.stage];
    return [name, switched.get(name) ?? (stage && switched.get(stage)) ?? gate.default];
  };
  return Object.fromEntries([...gatesIn(servedReleases(settings).emulated)].map(state)) as Features;
}

/** The line of a gate in the help. */
export const gateUsage = (name: string, { stage, default: on, locked }: FeatureGate): string =>
  `${name}=true|false (${stage.toUpperCase()} - default=${on}${locked ? ', locked' : ''})`;
