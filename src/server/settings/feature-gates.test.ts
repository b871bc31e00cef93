import { describe, expect, it } from 'vitest';
import { apiRelease, type FeatureGate, featureGates, featureList, inertGates, type Release } from '../../meta/index.ts';
import { featureSwitches, gateProblems, gateUsage, gateWarnings, resolveFeatures } from './feature-gates.ts';

const gates = (text: string) =>
  new Map(text.split(',').map((part) => [part.split('=')[0] ?? '', part.endsWith('=true')] as const));

/** The settings of a server with these gates; `emulatedVersion` undefined: of the latest release. */
const switched = (text: string, emulatedVersion?: Release) => ({
  featureGates: text === '' ? new Map<string, boolean>() : gates(text),
  emulatedVersion,
  minCompatibilityVersion: undefined,
});

/** The problem of one gate in the latest release. */
function problemOf(name: string, on: boolean): string | undefined {
  const parsed = featureSwitches.parse(`${name}=${on}`);
  return 'problem' in parsed ? parsed.problem : gateProblems(parsed.value, apiRelease)[0];
}

describe('a feature gate', () => {
  // The feature lifecycle of the specification.
  it.each(Object.entries<FeatureGate>(featureGates))(
    '%s is by default as its stage says',
    (name, { stage, default: on, locked }) => {
      const offInBeta = [
        'AllBeta',
        'ClusterTrustBundle',
        'ClusterTrustBundleProjection',
        'CoordinatedLeaderElection',
        'DeclarativeValidationTakeover',
        'DynamicResourceAllocation',
        'ImageVolume',
        'VolumeAttributesClass',
        'WatchList',
      ];
      if (stage === 'alpha') expect(on).toBe(false);
      if (stage === 'beta') expect(on).toBe(!offInBeta.includes(name));
      if (stage === 'stable') expect({ on, locked }).toEqual({ on: true, locked: true });
    },
  );

  it.each([
    ['AllowUnsafeMalformedObjectDeletion', true, undefined],
    ['WatchList', true, undefined],
    ['AllAlpha', true, undefined],
    ['SidecarContainers', true, undefined],
    ['SidecarContainers', false, 'cannot set feature gate SidecarContainers to false, feature is locked to true'],
    ['kube:WatchList', true, undefined],
    ['other:WatchList', true, 'names an unknown feature "other:WatchList"'],
    ['HPAScaleToZero', true, undefined],
    ['NodeSwap', false, undefined],
    ['ExecProbeTimeout', false, undefined],
    ['KMSv1', true, undefined],
    ['LoadBalancerIPMode', false, 'cannot set feature gate LoadBalancerIPMode to false, feature is locked to true'],
    [
      'AllowServiceLBStatusOnNonLB',
      true,
      'cannot set feature gate AllowServiceLBStatusOnNonLB to true, feature is locked to false',
    ],
    ['WatchLists', true, 'names an unknown feature "WatchLists"; did you mean "WatchList"?'],
    ['watchlist', true, 'names an unknown feature "watchlist"; did you mean "WatchList"?'],
    ['__proto__', true, 'names an unknown feature "__proto__"'],
    ['constructor', false, 'names an unknown feature "constructor"'],
  ])('%s=%j: %j', (name, on, problem) => expect(problemOf(name, on)).toBe(problem));

  it('causes a warning when it is stable or deprecated', () => {
    expect(gateWarnings(switched('WatchList=true,AllAlpha=true'))).toEqual([]);
    const old = 'SidecarContainers=true,InPlacePodVerticalScalingAllocatedStatus=true';
    expect(gateWarnings(switched(old))).toEqual([
      '--feature-gates names the stable feature SidecarContainers=true: a later release will not know it any more',
      '--feature-gates names the deprecated feature InPlacePodVerticalScalingAllocatedStatus=true: a later release will not know it any more',
    ]);
  });

  it('without effect causes a warning when it is not at its default', () => {
    expect(gateWarnings(switched('NodeSwap=true,HPAScaleToZero=false'))).toEqual([]);
    expect(gateWarnings(switched('NodeSwap=false,HPAScaleToZero=true,KMSv1=true'))).toEqual([
      '--feature-gates NodeSwap=false has no effect: nothing in this server depends on it',
      '--feature-gates HPAScaleToZero=true has no effect: nothing in this server depends on it',
      '--feature-gates KMSv1=true has no effect: nothing in this server depends on it',
    ]);
  });

  it('has a unique name', () => {
    expect(featureList.length).toBe(Object.keys(featureGates).length + Object.keys(inertGates).length);
    for (const [name] of featureList) expect(name).toMatch(/^[A-Z][A-Za-z0-9]+$/);
  });

  it('has its stage and default in the help', () => {
    const usage = (wanted: string) =>
      featureList.flatMap(([name, gate]) => (name === wanted ? gateUsage(name, gate) : []));
    expect(usage('WatchList')).toEqual(['WatchList=true|false (BETA - default=false)']);
    expect(usage('LoadBalancerIPMode')).toEqual(['LoadBalancerIPMode=true|false (STABLE - default=true, locked)']);
  });
});

describe('features', () => {
  it('have the defaults of the table', () => {
    expect(resolveFeatures(switched(''))).toEqual(
      Object.fromEntries(featureList.map(([name, gate]) => [name, gate.default])),
    );
  });

  it('follow their own gate before that of their stage', () => {
    expect(resolveFeatures(switched('AllBeta=false')).OpenAPIEnums).toBe(false);
    expect(resolveFeatures(switched('AllBeta=false,OpenAPIEnums=true')).OpenAPIEnums).toBe(true);
    expect(resolveFeatures(switched('AllBeta=true'))).toMatchObject({ ImageVolume: true, PodLevelResources: false });
    expect(resolveFeatures(switched('AllAlpha=true'))).toMatchObject({ ImageVolume: false, PodLevelResources: true });
  });

  it('are not changed by the gate of their stage when locked', () => {
    const all = resolveFeatures(switched('AllAlpha=true,AllBeta=false'));
    expect(all).toMatchObject({ SidecarContainers: true, CRDValidationRatcheting: true });
  });

  // The history of each gate is public: the release notes of 1.32 and 1.33.
  it('have the stages and defaults of an emulated release', () => {
    const in1 = (minor: number, text = '') => resolveFeatures(switched(text, { major: 1, minor }));
    expect([31, 32, 33].map((minor) => in1(minor).WatchList)).toEqual([false, true, false]);
    expect([31, 32, 33].map((minor) => in1(minor).AuthorizeWithSelectors)).toEqual([false, true, true]);
    expect([31, 32, 33].map((minor) => in1(minor).SupplementalGroupsPolicy)).toEqual([false, false, true]);
    expect([31, 32, 33].map((minor) => in1(minor).DeclarativeValidation)).toEqual([false, false, true]);
    expect(in1(32, 'AllAlpha=true')).toMatchObject({ ImageVolume: true, ContainerStopSignals: false });
    expect(in1(32, 'SidecarContainers=false').SidecarContainers).toBe(false);
  });

  it('cannot be set in an emulated release that does not have them, and are not locked before they are stable', () => {
    const release = { major: 1, minor: 32 };
    expect(gateProblems(gates('SidecarContainers=false,ContainerStopSignals=false'), release)).toEqual([
      'cannot set feature gate ContainerStopSignals to false, release 1.32 does not have the feature',
    ]);
  });
});
