import { describe, expect, it } from 'vitest';
import { stringifyYaml } from '../../codec/index.ts';
import { ownedLines } from './blame.ts';

describe('the owners of lines', () => {
  it('are those whose managed fields name the field, the item or everything above it', () => {
    const object = {
      kind: 'Deployment',
      metadata: {
        labels: { app: 'web' },
        managedFields: [
          {
            manager: 'applier',
            operation: 'Apply',
            fieldsV1: {
              'f:metadata': { 'f:labels': {} },
              'f:spec': { 'f:containers': { 'k:{"name":"web"}': { '.': {}, 'f:image': {}, 'f:name': {} } } },
            },
          },
          {
            manager: 'scaler',
            operation: 'Update',
            fieldsV1: { 'f:spec': { 'f:replicas': {}, 'f:finalizers': { 'v:"x"': {} } } },
          },
        ],
      },
      spec: { containers: [{ name: 'web', image: 'v1', tty: true }], finalizers: ['w', 'x'], replicas: 3 },
    };
    expect(
      ownedLines(object).map(({ text, owners }) => `${owners.map(({ manager }) => manager).join() || '-'} ${text}`),
    ).toEqual([
      '- kind: Deployment',
      '- metadata:',
      'applier   labels:',
      'applier     app: web',
      '- spec:',
      '-   containers:',
      'applier   - image: v1',
      'applier     name: web',
      '-     tty: true',
      '-   finalizers:',
      '-   - w',
      'scaler   - x',
      'scaler   replicas: 3',
    ]);
  });

  it('are lines of the same YAML as elsewhere, also for texts of several lines', () => {
    const object = {
      data: { 'a b': 'one\ntwo\n', empty: {}, 'x:y': [], list: [['a'], { b: [1, { c: null }] }], n: '1' },
    };
    expect(
      `${ownedLines(object)
        .map(({ text }) => text)
        .join('\n')}\n`,
    ).toBe(stringifyYaml(object));
  });
});
