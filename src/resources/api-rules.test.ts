import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { featureList } from '../meta/index.ts';
import type { Lifecycle, ResourceDefinition } from '../registry/index.ts';
import { field, int32, string, struct } from '../schema/index.ts';
import { allTypes } from '../types/find-type.ts';
import { builtinResources } from './index.ts';
import {
  brokenRules,
  lostFields,
  lostGates,
  lostVersions,
  type RecordedFields,
  type RecordedGates,
  type RecordedVersions,
} from './testing/api-rules.ts';

/** The API of release 1.33. A later release adds a file of its own. */
const recorded = JSON.parse(readFileSync(new URL('testing/release-1.33.json', import.meta.url), 'utf8')) as {
  readonly versions: RecordedVersions;
  readonly fields: RecordedFields;
  readonly gates: RecordedGates;
};

/** The rules of the specification, "Deprecation rules". Those of commands are in `server/settings/deprecation-rules.test.ts`. */
describe('the built-in API', () => {
  it('still has every field of every beta and stable type of release 1.33', () => {
    expect(Object.keys(recorded.fields).length).toBeGreaterThan(600);
    expect(lostFields(allTypes(), recorded.fields)).toEqual([]);
  });

  it('still has every beta and stable version of release 1.33', () => {
    expect(Object.keys(recorded.versions).length).toBeGreaterThan(70);
    expect(lostVersions(builtinResources, recorded.versions)).toEqual([]);
  });

  it('still has every beta and stable feature gate of release 1.33', () => {
    expect(Object.keys(recorded.gates).length).toBeGreaterThan(120);
    const gates = featureList.map(([name]) => name);
    expect(lostGates(gates, recorded.gates)).toEqual([]);
  });

  it('keeps the rules about versions', () => {
    // No release of this server is older than 1.33, so none has to read what 1.33 stores.
    const stored = builtinResources.flatMap((definition) => brokenRules(definition));
    expect(stored).toEqual([
      'rule 4b: objects are stored as networking.{domain}/v1 ipaddresses, which 1.32 cannot read',
      'rule 4b: objects are stored as networking.{domain}/v1 servicecidrs, which 1.32 cannot read',
    ]);
  });
});

const Thing = struct('example/v1.Thing', { size: field(1, int32), color: field(2, string) });
const Older = struct('example/v1beta1.Thing', { width: field(1, int32) });

/** A kind in two versions with these releases; the first version is stored. */
const thing = (v1: Lifecycle, beta: Lifecycle, schema = Thing): ResourceDefinition => ({
  ...(builtinResources[0] as ResourceDefinition),
  group: 'example',
  plural: 'things',
  kind: 'Thing',
  versions: [
    { version: 'v1', schema: Thing, lifecycle: v1 },
    { version: 'v1beta1', schema, lifecycle: beta },
  ],
  virtual: false,
  storage: { group: 'example', resource: 'things', version: 'v1' },
});

const old: Lifecycle = { introduced: '1.25' };
const beta: Lifecycle = { introduced: '1.24', deprecated: '1.27', removed: '1.30' };

describe('a broken rule is named', () => {
  const types = (schema: typeof Thing | typeof Older) => new Map([['example/v1.Thing', schema]]);
  it.each<[string, string, string[]]>([
    [
      'a field that is gone',
      'rule 1: example/v1.Thing.size was "1 int32" and is gone',
      lostFields(types(Older), { 'example/v1.Thing': { size: '1 int32' } }),
    ],
    [
      'a field of another type',
      'rule 1: example/v1.Thing.size was "1 string" and is "1 int32"',
      lostFields(types(Thing), { 'example/v1.Thing': { size: '1 string' } }),
    ],
    [
      'a stable version that is gone',
      'rule 4a: example/v2 Thing is gone',
      lostVersions([thing(old, beta)], { 'example/v2 Thing': '' }),
    ],
    [
      'a beta version that is gone too early',
      'rule 4a: example/v2beta1 Thing is gone',
      lostVersions([thing(old, beta)], { 'example/v2beta1 Thing': '1.34' }),
    ],
    ['a feature gate that is gone too early', 'rule 9: the feature gate New is gone', lostGates([], { New: '1.34' })],
    [
      'a version without conversion',
      'rule 2: example/v1beta1 things has another shape than the storage version, and no conversion',
      brokenRules(thing(old, beta, Older as never)),
    ],
    [
      'a less stable replacement',
      'rule 3: example/v1 things is deprecated for example/v1beta1 Thing, which is less stable',
      brokenRules(thing({ ...old, deprecated: '1.30', replacement: 'example/v1beta1 Thing' }, beta)),
    ],
    [
      'a stable version that is removed',
      'rule 4a: example/v1 things is stable and cannot be removed',
      brokenRules(thing({ ...old, deprecated: '1.28', removed: '1.33' }, beta)),
    ],
    [
      'a beta version that is deprecated late',
      'rule 4a: example/v1beta1 things is deprecated more than 3 releases after its introduction',
      brokenRules(thing(old, { introduced: '1.24', deprecated: '1.28', removed: '1.31' })),
    ],
    [
      'a beta version that stays',
      'rule 4a: example/v1beta1 things is served more than 3 releases after its deprecation',
      brokenRules(thing(old, { introduced: '1.24', deprecated: '1.27', removed: '1.31' })),
    ],
    [
      'a beta version that goes early',
      'rule 4a: example/v1beta1 things is removed less than 3 releases after its deprecation',
      brokenRules(thing(old, { introduced: '1.24', deprecated: '1.27', removed: '1.29' })),
    ],
    [
      'a storage version that moves early',
      'rule 4b: objects are stored as example/v1 things, which 1.32 cannot read',
      brokenRules(thing({ introduced: '1.33' }, beta)),
    ],
  ])('%s', (_, problem, found) => {
    expect(found).toEqual([problem]);
  });

  it('and a version or gate whose removal has come may go', () => {
    expect(lostVersions([], { 'example/v1beta1 Thing': '1.33' })).toEqual([]);
    expect(lostGates([], { Former: '1.33' })).toEqual([]);
  });
});
