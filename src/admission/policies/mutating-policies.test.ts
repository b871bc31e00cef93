import { describe, expect, it } from 'vitest';
import { defaultFeatures, type JsonObject, StatusError } from '../../meta/index.ts';
import { Deployment } from '../../types/apps-v1.ts';
import { createChain, runMutating } from '../chain.ts';
import { fakeInitializer, requestFor, type StoredObject, stored } from '../testing/initializer.ts';
import type { AdmissionPlugin, AdmissionRequest, MutationCheck, PluginInitializer } from '../types.ts';
import { mutatingPolicies } from './mutating-policies.ts';

const rule = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] };
const matchConstraints = { namespaceSelector: {}, objectSelector: {}, resourceRules: [rule] };
/** A policy; texts are expressions of applied configurations. */
const policy = (name: string, mutations: readonly (string | JsonObject)[], spec: JsonObject = {}): StoredObject =>
  stored('mutatingadmissionpolicies', name, {
    metadata: { uid: name, generation: 1 },
    spec: {
      matchConstraints,
      failurePolicy: 'Fail',
      reinvocationPolicy: 'Never',
      ...spec,
      mutations: mutations.map((one) =>
        typeof one === 'string' ? { patchType: 'ApplyConfiguration', applyConfiguration: { expression: one } } : one,
      ),
    },
  });
const binding = (policyName: string, spec: JsonObject = {}): StoredObject =>
  stored('mutatingadmissionpolicybindings', `${policyName}-binding`, { spec: { policyName, ...spec } });
const bound = (name: string, mutations: readonly (string | JsonObject)[], spec: JsonObject = {}) => [
  policy(name, mutations, spec),
  binding(name),
];
const replicas = (expression: string) => `Object{spec: Object.spec{replicas: ${expression}}}`;
const labels = (entries: string) => `Object{metadata: Object.metadata{labels: {${entries}}}}`;
const patched = (operations: string): JsonObject => ({ patchType: 'JSONPatch', jsonPatch: { expression: operations } });
const namespace = stored('namespaces', 'n', { metadata: { labels: { env: 'test' } } });

interface Seen {
  readonly object: JsonObject;
  readonly error: StatusError | undefined;
  readonly checks: readonly MutationCheck[];
}

/** Admits a new deployment with one replica. */
async function admit(
  objects: readonly StoredObject[],
  part: Partial<AdmissionRequest> = {},
  { others = [], ...more }: Partial<PluginInitializer> & { readonly others?: readonly AdmissionPlugin[] } = {},
): Promise<Seen> {
  const checks: MutationCheck[] = [];
  const initializer = {
    ...fakeInitializer([namespace, ...objects]),
    mutationChecked: (check: MutationCheck) => checks.push(check),
    ...more,
  };
  const request = requestFor('deployments.apps', { spec: { replicas: 1 } }, { schema: Deployment, ...part } as never);
  let error: StatusError | undefined;
  try {
    await runMutating(createChain([mutatingPolicies(initializer), ...others]), request);
  } catch (thrown) {
    if (!(thrown instanceof StatusError)) throw thrown;
    error = thrown;
  }
  return { object: request.object ?? {}, error, checks };
}

describe('mutating policies', () => {
  it('change objects that they match and to which they are bound', async () => {
    const { object, checks } = await admit([
      ...bound('a', [replicas('object.spec.replicas + 100'), replicas('object.spec.replicas * 2')]),
      policy('unbound', [replicas('0')]),
      ...bound('other', [replicas('0')], {
        matchConstraints: { ...matchConstraints, resourceRules: [{ ...rule, resources: ['pods'] }] },
      }),
    ]);
    expect(object['spec']).toMatchObject({ replicas: 202 });
    const check = { policy: 'a', binding: 'a-binding', error: 'no_error' };
    expect(checks).toEqual([check, check]);
  });

  it('read parameters, variables, the namespace and the request', async () => {
    const spec = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      variables: [{ name: 'sum', expression: 'object.spec.replicas + int(params.data["key"])' }],
    };
    const { object } = await admit([
      stored('configmaps', 'cm1', { data: { key: '10' } }, 'n'),
      policy(
        'p',
        [replicas('variables.sum'), labels('"env": namespaceObject.metadata.labels.env + request.operation')],
        spec,
      ),
      binding('p', { paramRef: { name: 'cm1', parameterNotFoundAction: 'Deny' } }),
    ]);
    expect(object).toMatchObject({ spec: { replicas: 11 }, metadata: { labels: { env: 'testCREATE' } } });
  });

  it('see what policies before them have changed, also in match conditions', async () => {
    const matchConditions = [{ name: 'c', expression: 'object.?metadata.labels["env"].orValue("") == "prod"' }];
    const sets = bound('b', [labels('"env": "prod"')]);
    const first = await admit([...sets, ...bound('c', [labels('"invoked": "true"')], { matchConditions })]);
    expect(first.object['metadata']).toMatchObject({ labels: { env: 'prod', invoked: 'true' } });
    const last = await admit([...bound('a', [labels('"invoked": "true"')], { matchConditions }), ...sets]);
    expect((last.object['metadata'] as JsonObject)['labels']).toEqual({ env: 'prod' });
  });

  it.each<[string, Partial<AdmissionRequest>, Partial<PluginInitializer>]>([
    ['deletions', { operation: 'DELETE', object: undefined }, {}],
    ['requests while the feature is off', {}, { features: { ...defaultFeatures, MutatingAdmissionPolicy: false } }],
    [
      'policies themselves',
      {
        resource: { group: 'admissionregistration.k8s.io', version: 'v1alpha1', resource: 'mutatingadmissionpolicies' },
      },
      {},
    ],
  ])('do not see %s', async (_, part, more) => {
    expect((await admit(bound('a', [replicas('2 / 0')]), part, more)).error).toBeUndefined();
    expect((await admit(bound('a', [replicas('2 / 0')]))).error).toBeDefined();
  });
});

describe('a mutation that fails', () => {
  const why = "expression 'Object{spec: Object.spec{replicas: 1 / 0}}' resulted in error: division by zero";

  it('rejects the request, and others are tried all the same', async () => {
    const { error, checks } = await admit([
      ...bound('a', [replicas('1 / 0'), replicas('2')]),
      ...bound('b', ['Nope{}']),
    ]);
    const message = `policy 'a' with binding 'a-binding' denied request: ${why}`;
    expect(error?.toStatus()).toMatchObject({
      code: 403,
      reason: 'Invalid',
      message,
      details: {
        name: 'x',
        group: 'apps',
        kind: 'deployments',
        causes: [
          { message },
          {
            message: expect.stringMatching(
              /^policy 'b' with binding 'b-binding' denied request: compilation failed: ERROR/,
            ),
          },
        ],
      },
    });
    expect(checks.map(({ policy: name, error: kind }) => [name, kind])).toEqual([
      ['a', 'invalid_error'],
      ['a', 'no_error'],
      ['b', 'compile_error'],
    ]);
  });

  it('is ignored if the policy says so', async () => {
    const { object, error } = await admit(bound('a', [replicas('1 / 0'), replicas('2')], { failurePolicy: 'Ignore' }));
    expect([error, object['spec']]).toEqual([undefined, { replicas: 2 }]);
  });

  it('is a match condition too, or the configuration', async () => {
    const conditions = { matchConditions: [{ name: 'c', expression: 'object.nope' }] };
    expect((await admit(bound('a', [replicas('2')], conditions))).error?.message).toBe(
      `policy 'a' with binding 'a-binding' denied request: compilation error: must evaluate to bool but got dyn`,
    );
    const missing = await admit([
      policy('p', [replicas('2')], { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }),
      binding('p', { paramRef: { name: 'none', parameterNotFoundAction: 'Deny' } }),
    ]);
    expect(missing.error).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message:
        "policy 'p' with binding 'p-binding' denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
    });
    const unknown = { paramKind: { apiVersion: 'v1', kind: 'Unknown' } };
    expect((await admit(bound('p', [replicas('2')], unknown))).error?.message).toMatch(
      'policy "p" denied request: failed to configure policy: ',
    );
  });

  it('ends the request when the patched object cannot be decoded', async () => {
    const unknown = patched('[JSONPatch{op: "add", path: "/spec/nope", value: 1}]');
    const versions = { write: () => Promise.reject(new StatusError(400, 'BadRequest', 'unknown field "spec.nope"')) };
    const request = requestFor('deployments.apps', { spec: {} });
    const { error } = await admit(bound('a', [unknown], { failurePolicy: 'Ignore' }), {
      versions: { ...request.versions, ...versions, read: () => ({ spec: {} }) },
    });
    expect(error).toMatchObject({ code: 500, message: 'Internal error occurred: unknown field "spec.nope"' });
  });
});

describe('the second run of the mutating phase', () => {
  const count = labels('"count": string(int(object.?metadata.labels["count"].orValue("0")) + 1)');
  const countOf = ({ object }: Seen) => ((object['metadata'] as JsonObject)['labels'] as JsonObject)['count'];
  const again = { reinvocationPolicy: 'IfNeeded' };

  it('invokes policies again that allow it', async () => {
    expect(countOf(await admit(bound('a', [count], again)))).toBe('2');
    expect(countOf(await admit(bound('a', [count])))).toBe('1');
    expect(countOf(await admit([...bound('a', [count]), ...bound('b', [replicas('2')], again)]))).toBe('1');
  });

  it('follows when a later plugin asks for it and has changed the object', async () => {
    const matchConditions = [{ name: 'c', expression: 'object.spec.replicas > 1' }];
    const later = (change: boolean): AdmissionPlugin => ({
      name: 'Later',
      mutate: (request) => {
        request.reinvocation ??= { needed: false, again: false };
        request.reinvocation.needed = true;
        if (change && !request.reinvocation.again) Object.assign(request.object ?? {}, { spec: { replicas: 5 } });
      },
    });
    const test = patched(
      '[JSONPatch{op: "test", path: "/spec/replicas", value: 5}, JSONPatch{op: "replace", path: "/spec/replicas", value: 6}]',
    );
    const policies = bound('a', [test], again);
    expect((await admit(policies, {}, { others: [later(true)] })).object['spec']).toEqual({ replicas: 6 });
    expect((await admit(policies, {}, { others: [later(false)] })).object['spec']).toEqual({ replicas: 1 });
    // The second run skips mutations that the first run skipped.
    const conditional = bound('a', [replicas('7')], { ...again, matchConditions });
    expect((await admit(conditional, {}, { others: [later(true)] })).object['spec']).toEqual({ replicas: 5 });
  });
});

describe('a request that cannot be converted to the version in which a policy matched', () => {
  const versions = {
    ...requestFor('deployments.apps', {}).versions,
    read: () => Promise.reject(new StatusError(500, '', 'the webhook does not answer')),
  };

  it('is rejected by failurePolicy Fail, and left as it is by Ignore', async () => {
    const { error } = await admit(bound('p', [replicas('2')]), { versions });
    expect(error).toMatchObject({
      code: 403,
      message: 'policy "p" denied request: failed to configure policy: the webhook does not answer',
    });
    const ignored = await admit(bound('p', [replicas('2')], { failurePolicy: 'Ignore' }), { versions });
    expect([ignored.error, ignored.object['spec']]).toEqual([undefined, { replicas: 1 }]);
  });
});

it('asks the authorizer once for all policies of a request', async () => {
  let asked = 0;
  const authorizeAccess = () => {
    asked += 1;
    return { allowed: true, reason: '' };
  };
  const may = 'authorizer.group("").resource("pods").check("get").allowed()';
  const mutation = replicas(`${may} ? 2 : 1`);
  await admit([...bound('p', [mutation, mutation]), ...bound('q', [mutation])], {}, { authorizeAccess });
  expect(asked).toBe(1);
});
