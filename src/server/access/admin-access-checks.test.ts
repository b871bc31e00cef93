import { expect, it } from 'vitest';
import { type ApiObject, type JsonObject, namesFor } from '../../meta/index.ts';
import type { Registry } from '../../registry/index.ts';
import { adminAccessChecks } from './admin-access-checks.ts';

const why =
  'Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace';

/** The errors of a write in a namespace with these labels. */
async function check(resource: string, object: JsonObject, labels: JsonObject = {}, oldObject?: JsonObject) {
  const read = async () => ({ metadata: { name: 'n', labels } });
  const registry = { objects: { read } } as unknown as Registry;
  const found = await adminAccessChecks({ names: namesFor('k8s.io'), backend: { registry } }).get(
    `${resource}.resource.k8s.io`,
  )?.({
    requester: { name: 'ann', groups: ['system:masters'] },
    namespace: 'n',
    requestName: '',
    object: object as ApiObject,
    oldObject: oldObject as ApiObject | undefined,
  });
  return found?.map(({ field, message }) => [field, message]);
}

const spec = (...requests: JsonObject[]) => ({ devices: { requests } });
const status = { allocation: { devices: { results: [{ adminAccess: true }] } } };

// As the reference server answers.
it.each<[string, string, JsonObject, string]>([
  ['a claim', 'resourceclaims', { spec: spec({}, { adminAccess: true }) }, 'spec.devices.requests[1].adminAccess'],
  [
    'a claim of a later version',
    'resourceclaims',
    { spec: spec({ exactly: { adminAccess: true } }) },
    'spec.devices.requests[0].adminAccess',
  ],
  [
    'a template',
    'resourceclaimtemplates',
    { spec: { spec: spec({ adminAccess: true }) } },
    'spec.devices.requests[0].adminAccess',
  ],
  ['an allocation', 'resourceclaims', { spec: spec(), status }, 'status.allocation.devices.results[0].adminAccess'],
])('admin access in %s requires the label of the namespace', async (_, resource, object, field) => {
  expect(await check(resource, object)).toEqual([[field, why]]);
  expect(await check(resource, object, { 'resource.kubernetes.io/admin-access': 'yes' })).toEqual([[field, why]]);
  for (const label of ['resource.kubernetes.io/admin-access', 'resource.k8s.io/admin-access']) {
    expect(await check(resource, object, { [label]: 'true' })).toEqual([]);
  }
});

it('what a claim already has needs no label', async () => {
  const object = { spec: spec({ adminAccess: true }), status };
  expect(await check('resourceclaims', object, {}, object)).toEqual([]);
  expect(await check('resourceclaims', { spec: spec({ adminAccess: false }) })).toEqual([]);
});
