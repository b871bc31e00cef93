import { describe, expect, it } from 'vitest';
import { featureList } from '../meta/index.ts';
import { checkGate, gateUsage, gateWarnings, resolveFeatures } from './feature-gates.ts';

const switched = (text: string) =>
  new Map(text.split(',').map((part) => [part.split('=')[0] ?? '', part.endsWith('=true')] as const));

describe('a gate', () => {
  // The lifecycle in the specification.
  it.each(featureList)('%s is by default as its stage says', (name, { stage, default: on, locked }) => {
    const offInBeta = [
      'AllBeta',
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
  });

  it.each([
    ['AllowUnsafeMalformedObjectDeletion', true, undefined],
    ['WatchList', true, undefined],
    ['AllAlpha', true, undefined],
    ['SidecarContainers', true, undefined],
    ['SidecarContainers', false, 'cannot switch SidecarContainers: it is locked to true'],
    ['HPAScaleToZero', true, 'cannot switch HPAScaleToZero: it is locked to false'],
    ['WatchLists', true, 'names an unknown feature "WatchLists"; did you mean "WatchList"?'],
    ['watchlist', true, 'names an unknown feature "watchlist"; did you mean "WatchList"?'],
    ['__proto__', true, 'names an unknown feature "__proto__"'],
    ['constructor', false, 'names an unknown feature "constructor"'],
  ])('%s=%j: %j', (name, on, problem) => expect(checkGate(name, on)).toBe(problem));

  it('is warned of when its time is over', () => {
    expect(gateWarnings(switched('WatchList=true,AllAlpha=true'))).toEqual([]);
    const old = 'SidecarContainers=true,InPlacePodVerticalScalingAllocatedStatus=true';
    expect(gateWarnings(switched(old))).toEqual([
      '--feature-gates names the stable feature SidecarContainers=true: a later release will not know it any more',
      '--feature-gates names the deprecated feature InPlacePodVerticalScalingAllocatedStatus=true: a later release will not know it any more',
    ]);
  });

  it('tells its stage and default in the help', () => {
    const usage = (wanted: string) =>
      featureList.flatMap(([name, gate]) => (name === wanted ? gateUsage(name, gate) : []));
    expect(usage('WatchList')).toEqual(['WatchList=true|false (BETA - default=false)']);
    expect(usage('HPAScaleToZero')).toEqual(['HPAScaleToZero=true|false (ALPHA - default=false, locked)']);
  });
});

describe('features', () => {
  it('are as the table says when nobody switches them', () => {
    expect(resolveFeatures(new Map())).toEqual(
      Object.fromEntries(featureList.map(([name, gate]) => [name, gate.default])),
    );
  });

  it('follow their own switch before that of their stage', () => {
    expect(resolveFeatures(switched('AllBeta=false')).OpenAPIEnums).toBe(false);
    expect(resolveFeatures(switched('AllBeta=false,OpenAPIEnums=true')).OpenAPIEnums).toBe(true);
    expect(resolveFeatures(switched('AllBeta=true'))).toMatchObject({ ImageVolume: true, PodLevelResources: false });
    expect(resolveFeatures(switched('AllAlpha=true'))).toMatchObject({ ImageVolume: false, PodLevelResources: true });
  });

  it('stay as they are when they are locked', () => {
    const all = resolveFeatures(switched('AllAlpha=true,AllBeta=false'));
    expect(all).toMatchObject({ HPAScaleToZero: false, ConsistentListFromCache: true, SidecarContainers: true });
  });
});
