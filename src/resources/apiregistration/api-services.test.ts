import { describe, expect, test } from 'vitest';
import { created, type Fragment, onCreate, onUpdate, type Row, sorted } from '../testing/kind.ts';
import { invalid, missing, required, says } from '../testing/messages.ts';
import { apiServices } from './api-services.ts';

const service = (more: Fragment): Fragment => ({
  metadata: { name: 'v1.a.b' },
  spec: { group: 'a.b', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, ...more },
});

const rows: readonly Row[] = [
  ['a local API service', service({})],
  [
    'an empty spec',
    { metadata: { name: 'bad' }, spec: { groupPriorityMinimum: 0, versionPriority: 0 } },
    ['metadata.name', 'Invalid', invalid('bad', 'must be `spec.version+"."+spec.group`: "."')],
    ['spec.group', 'Required', required('only v1 may have an empty group and it better be legacy kube')],
    ['spec.groupPriorityMinimum', 'Invalid', invalid(0, 'must be positive and less than 20000')],
    ['spec.version', 'Invalid', invalid('', says.label1035)],
    ['spec.versionPriority', 'Invalid', invalid(0, 'must be positive and less than 1000')],
  ],
  [
    'generateName',
    { ...service({}), metadata: { name: 'v1.a.b', generateName: 'v1' } },
    ['metadata.generateName', 'Invalid', invalid('v1', 'must be `spec.version+"."+spec.group`: "v1.a.b"')],
  ],
  [
    'TLS settings of a local one',
    service({ caBundle: 'eHl6', insecureSkipTLSVerify: true }),
    ['spec.caBundle', 'Invalid', invalid('3 bytes', 'local APIServices may not have a caBundle')],
    ['spec.insecureSkipTLSVerify', 'Invalid', invalid(true, 'local APIServices may not have insecureSkipTLSVerify')],
  ],
  [
    'an API service with a service',
    service({ service: { port: 0 }, caBundle: 'eHl6', insecureSkipTLSVerify: true }),
    ['spec.insecureSkipTLSVerify', 'Invalid', invalid(true, 'may not be true if caBundle is present')],
    ['spec.service.name', 'Required', missing],
    ['spec.service.namespace', 'Required', missing],
    ['spec.service.port', 'Invalid', invalid(0, `port is not valid: ${says.port}`)],
  ],
];

describe('API services', () => {
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(apiServices, fragment)).toEqual(sorted(expected));
  });
  test('the name is validated on update too', () => {
    expect(onUpdate(apiServices, service({}), service({ group: 'a.c' }))).toEqual([
      ['metadata.name', 'Invalid', invalid('v1.a.b', 'must be `spec.version+"."+spec.group`: "v1.a.c"')],
    ]);
  });
  test('a local API service is available; the port of another one defaults to 443', () => {
    expect(created(apiServices, service({}))['status']).toEqual({
      conditions: [
        {
          type: 'Available',
          status: 'True',
          lastTransitionTime: '2024-01-02T03:04:05Z',
          reason: 'Local',
          message: 'Local APIServices are always available',
        },
      ],
    });
    expect(created(apiServices, service({ service: { name: 's', namespace: 'n' } }))['spec']).toMatchObject({
      service: { port: 443 },
    });
  });
});
