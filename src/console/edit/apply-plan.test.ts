import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { fieldOwners } from '../object/field-owners.ts';
import { pathText } from '../object/paths.ts';
import { type Change, configurationOf, removalsOf } from './apply-plan.ts';

const container = 'k:{"name":"web"}';
const owned = {
  'f:spec': {
    'f:replicas': {},
    'f:template': { 'f:containers': { [container]: { '.': {}, 'f:image': {}, 'f:name': {} } } },
  },
};
const before: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'default',
    resourceVersion: '5',
    labels: { mine: 'yes', theirs: 'yes' },
    managedFields: [
      { manager: 'other', operation: 'Apply', fieldsType: 'FieldsV1', fieldsV1: owned },
      { manager: 'other', operation: 'Update', fieldsV1: { 'f:metadata': { 'f:labels': { 'f:theirs': {} } } } },
      { manager: 'console', operation: 'Apply', fieldsV1: { 'f:metadata': { 'f:labels': { 'f:mine': {} } } } },
    ],
  },
  spec: {
    replicas: 1,
    template: {
      containers: [
        { name: 'web', image: 'web:1' },
        { name: 'log', image: 'log:1' },
      ],
    },
  },
  status: { replicas: 1 },
};

interface Web {
  readonly metadata: { readonly labels: { [name: string]: string } };
  readonly spec: { replicas: number; readonly template: { readonly containers: { name: string; image: string }[] } };
  readonly status: { replicas: number };
}

function changed(change: (object: Web) => void): Change {
  const after = structuredClone(before);
  change(after as unknown as Web);
  const listKeys = (path: readonly (string | number)[]) =>
    pathText(path) === 'spec.template.containers' ? ['name'] : undefined;
  return { before, after, owners: fieldOwners(before), manager: 'console', listKeys };
}

const identity = { apiVersion: 'apps/v1', kind: 'Deployment' };
const metadata = { name: 'web', namespace: 'default', labels: { mine: 'yes' } };

describe('the configuration to apply', () => {
  it('has the changed fields, and those that the console has applied before', () => {
    const change = changed(({ spec }) => {
      spec.replicas = 3;
    });
    expect(configurationOf(change)).toEqual({ ...identity, metadata, spec: { replicas: 3 } });
  });

  it('names changed items of a list by their keys', () => {
    const change = changed(({ spec }) => {
      spec.template.containers.splice(1, 1, { name: 'log', image: 'log:2' }, { name: 'new', image: 'new:1' });
    });
    const containers = [
      { name: 'log', image: 'log:2' },
      { name: 'new', image: 'new:1' },
    ];
    expect(configurationOf(change)).toEqual({ ...identity, metadata, spec: { template: { containers } } });
  });

  it('leaves out the status, and fields of others where their values are kept', () => {
    const change = changed(({ spec, status, metadata: { labels } }) => {
      spec.replicas = 3;
      status.replicas = 3;
      labels['added'] = 'yes';
    });
    expect(configurationOf(change, true)).toEqual({
      ...identity,
      metadata: { ...metadata, labels: { mine: 'yes', added: 'yes' } },
    });
  });
});

describe('the removals of a change', () => {
  it('are the removed fields that others own, with their managers', () => {
    const change = changed(({ spec, metadata: { labels } }) => {
      delete labels['mine'];
      delete labels['theirs'];
      spec.template.containers.splice(0, 1);
    });
    expect(removalsOf(change).map(({ path, managers }) => [pathText(path), managers])).toEqual([
      ['metadata.labels.theirs', ['other']],
      ['spec.template.containers[0]', ['other']],
    ]);
  });

  it('are found under names that every object of the language has', () => {
    const managedFields = [{ manager: 'other', operation: 'Update', fieldsV1: { 'f:data': { 'f:constructor': {} } } }];
    const object: JsonObject = { metadata: { managedFields }, data: { constructor: 'a' } };
    const change = { before: object, after: { ...object, data: {} }, owners: fieldOwners(object) };
    const removals = removalsOf({ ...change, manager: 'console', listKeys: () => undefined });
    expect(removals.map(({ path }) => pathText(path))).toEqual(['data.constructor']);
  });

  it('are none where only the console owns the field', () => {
    expect(removalsOf(changed(({ metadata: { labels } }) => delete labels['mine']))).toEqual([]);
  });
});
