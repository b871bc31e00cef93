import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { onCreate, type Row, sorted } from '../testing/kind.ts';
import { duplicate, invalid, required, says } from '../testing/messages.ts';
import { storageVersions } from './storage-versions.ts';

const name = (text: string, of: { [key: string]: JsonObject | string } = {}) => ({ metadata: { name: text }, ...of });
const server = (apiServerID: string, encodingVersion: string, more: JsonObject = {}) => ({
  apiServerID,
  encodingVersion,
  decodableVersions: [encodingVersion],
  ...more,
});
const withStatus = (status: JsonObject) => name('apps.deployments', { status });
const first = 'status.storageVersions[0]';

describe('storage versions', () => {
  const rows: readonly Row[] = [
    ['a valid object', name('apps.deployments')],
    [
      'servers that agree',
      withStatus({ storageVersions: [server('a', 'v1'), server('b', 'v1')], commonEncodingVersion: 'v1' }),
    ],
    [
      'servers that disagree',
      withStatus({ storageVersions: [server('a', 'v1'), server('b', 'e.io/v2')], commonEncodingVersion: 'v1' }),
      [
        'status.commonEncodingVersion',
        'Invalid',
        invalid(
          'v1',
          'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet',
        ),
      ],
    ],
    [
      'a missing commonEncodingVersion',
      withStatus({ storageVersions: [server('a', 'v1')] }),
      ['status.commonEncodingVersion', 'Invalid', invalid(null, 'the common encoding version is v1')],
    ],
    [
      'a duplicate server',
      withStatus({ storageVersions: [server('a', 'v1'), server('a', 'v1')], commonEncodingVersion: 'v1' }),
      ['status.storageVersions[1].apiServerID', 'Duplicate', duplicate('a')],
    ],
    [
      'an encoding version that cannot be decoded',
      withStatus({
        storageVersions: [server('a', 'v1', { decodableVersions: ['V2'], servedVersions: ['v3'] })],
        commonEncodingVersion: 'v1',
      }),
      [`${first}.decodableVersions`, 'Invalid', invalid(['V2'], 'decodableVersions must include encodingVersion v1')],
      [`${first}.decodableVersions[0]`, 'Invalid', invalid('V2', `version part: ${says.label1035}`)],
      [
        `${first}.servedVersions[0]`,
        'Invalid',
        invalid('v3', 'individual served version must be included in decodableVersions : [V2]'),
      ],
    ],
    [
      'duplicate conditions without reasons',
      withStatus({
        conditions: [
          { type: 'A', status: 'True' },
          { type: 'A', status: 'True', reason: 'r', message: 'm' },
        ],
      }),
      ['status[0].message', 'Required', required('message cannot be empty')],
      ['status[0].reason', 'Required', required('reason cannot be empty')],
      [
        'status[1].type',
        'Invalid',
        invalid('A', 'the type of the condition is not unique, it also appears in conditions[0]'),
      ],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(storageVersions, fragment)).toEqual(sorted(expected));
  });

  test.each([
    ['deployments', ['name must be in the form of <group>.<resource>']],
    ['apps.deployments', []],
    ['a.b.c', []],
    ['.x', [expect.stringContaining('the group segment ')]],
    ['apps.X', [`the resource segment ${says.label1035}`]],
  ])('the name %s', (text, expected) => {
    expect(storageVersions.strategy.nameRule?.(text)).toEqual(expected);
  });
});
