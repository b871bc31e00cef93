import { expect, test } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { onCreate, onUpdate } from '../testing/kind.ts';
import { immutable, invalid, required } from '../testing/messages.ts';
import { storageVersionMigrations as kind } from './storage-version-migrations.ts';

const migration = (resource: JsonObject) => ({ spec: { resource } });
const pods = { version: 'v1', resource: 'pods' };
const state = (...types: string[]) => types.map((type) => ({ type, status: 'True', lastUpdateTime: null }));

test('the resource is required and immutable', () => {
  expect(onCreate(kind, migration(pods))).toEqual([]);
  expect(onCreate(kind, migration({}))).toEqual([
    ['spec.resource.resource', 'Required', required('resource is required')],
    ['spec.resource.version', 'Required', required('version is required')],
  ]);
  expect(onUpdate(kind, migration(pods), migration({ ...pods, group: 'apps' }))).toEqual([
    ['group', 'Invalid', immutable('apps')],
  ]);
});

test('a migration cannot both succeed and fail', () => {
  const changed = (status: JsonObject) => onUpdate(kind, migration(pods), { ...migration(pods), status }, 'status');
  expect(changed({ conditions: state('Running'), resourceVersion: '12' })).toEqual([]);
  expect(changed({ resourceVersion: '-1' })).toEqual([
    ['status.resourceVersion', 'Invalid', invalid('-1', 'must be a non-negative integer')],
  ]);
  const conditions = state('Running', 'Succeeded');
  expect(changed({ conditions })).toEqual([
    [
      'status.conditions',
      'Invalid',
      invalid(conditions, 'Running condition cannot be true when success condition is true'),
    ],
  ]);
});
