import { afterEach, describe, expect, it } from 'vitest';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { policyStatusController } from './status.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const policy = { metadata: { name: 'p' } };
const rule = (group: string, version: string, resource: string) => ({
  resourceRules: [{ apiGroups: [group], apiVersions: [version], operations: ['CREATE'], resources: [resource] }],
});

async function checked(spec: object) {
  await cluster.client.kind(kinds.validatingAdmissionPolicies).create({ ...policy, spec } as never);
  await cluster.settle();
  return (await cluster.client.kind(kinds.validatingAdmissionPolicies).get({ name: 'p' })).status;
}

describe('validatingadmissionpolicy-status-controller', () => {
  it('warns about expressions that cannot hold, until they are set right', async () => {
    cluster = await testCluster([policyStatusController]);
    const matchConstraints = rule('apps', 'v1', 'deployments');
    const wrong = [{ expression: 'object.spec.replicas < 5' }, { expression: 'object.spec.nothing == 1' }];
    expect(await checked({ matchConstraints, validations: wrong })).toEqual({
      observedGeneration: 1,
      typeChecking: {
        expressionWarnings: [
          {
            fieldRef: 'spec.validations[1].expression',
            warning: `apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'nothing'\n | object.spec.nothing == 1\n | ...........^\n`,
          },
        ],
      },
    });
    const right = { spec: { validations: [{ expression: 'object.spec.replicas < 9' }] } };
    await cluster.client.kind(kinds.validatingAdmissionPolicies).patch(policy.metadata, 'merge', right);
    await cluster.settle();
    const { status } = await cluster.client.kind(kinds.validatingAdmissionPolicies).get({ name: 'p' });
    expect(status).toEqual({ observedGeneration: 2, typeChecking: {} });
    expect(cluster.logged).toEqual([]);
  });

  it('knows the types of custom kinds, of the object and of parameters', async () => {
    cluster = await testCluster([policyStatusController]);
    const names = { plural: 'wheels', singular: 'wheel', kind: 'Wheel', listKind: 'WheelList' };
    const spec = { type: 'object', properties: { radius: { type: 'integer' } } };
    const openAPIV3Schema = { type: 'object', properties: { spec } };
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }];
    const place = { apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions' };
    await cluster.client.create(place, {
      apiVersion: place.apiVersion,
      kind: 'CustomResourceDefinition',
      metadata: { name: 'wheels.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', names, versions },
    });
    await cluster.settle();
    const status = await checked({
      paramKind: { apiVersion: 'example.com/v1', kind: 'Wheel' },
      matchConstraints: rule('example.com', 'v1', 'wheels'),
      validations: [
        { expression: 'object.spec.radius < params.spec.radius' },
        { expression: 'object.spec.diameter < 1' },
        { expression: "params.spec.radius == 'x'" },
      ],
    });
    const warned = status?.typeChecking?.expressionWarnings?.map(({ fieldRef, warning }) => [
      fieldRef,
      warning?.split('\n')[0],
    ]);
    expect(warned).toEqual([
      [
        'spec.validations[1].expression',
        expect.stringContaining("Kind=Wheel: ERROR: <input>:1:12: undefined field 'diameter'"),
      ],
      ['spec.validations[2].expression', expect.stringContaining("applied to '(int, string)'")],
    ]);
  });
});
