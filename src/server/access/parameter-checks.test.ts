import { describe, expect, it } from 'vitest';
import { type ApiObject, type JsonObject, namesFor, statusError, type User } from '../../meta/index.ts';
import type { CheckedWrite, Registry } from '../../registry/index.ts';
import { createServer } from '../server.ts';
import { parameterChecks } from './parameter-checks.ts';

const group = 'admissionregistration.k8s.io';
const user: User = { name: 'ann', groups: ['a', 'b'], extra: { z: ['1', '2'], k: ['v'] } };
const shown = '&{ann  [a b] map[k:[v] z:[1 2]]}';
const policy = (paramKind?: JsonObject) => ({ spec: paramKind === undefined ? {} : { paramKind } });
const params = { apiVersion: 'example.com/v1', kind: 'Limit' };

/** The outcome of a check, and what the authorizer, which allows what `allows` names, was asked. */
async function check(
  resource: string,
  object: JsonObject,
  part: Partial<CheckedWrite> & { policy?: JsonObject; allows?: string } = {},
) {
  const { policy: stored, allows, ...write } = part;
  const asked: string[] = [];
  const checks = parameterChecks({
    names: namesFor('k8s.io'),
    authorize: ({ verb, resource: of }) => {
      const { group: of1 = '', version = '', resource: plural = '', namespace = '', name = '' } = of ?? {};
      const text = `${verb} ${of1}/${version}/${plural} ${namespace}/${name}`;
      asked.push(text);
      return { allowed: text === allows, reason: '' };
    },
    findKind: (apiVersion, kind) =>
      apiVersion === 'example.com/v1' && kind === 'Limit'
        ? { group: 'example.com', version: 'v1', resource: 'limits', namespaced: true }
        : undefined,
    backend: {
      registry: {
        objects: {
          read: async (id: string, _: string, name: string) => {
            if (stored === undefined) throw statusError.notFound({ group, resource: id }, name);
            return stored;
          },
        },
      } as unknown as Registry,
    },
  });
  const found = await checks.get(`${resource}.${group}`)?.({
    requester: user,
    namespace: '',
    requestName: '',
    oldObject: undefined,
    object: object as ApiObject,
    ...write,
  });
  return { found: found?.map(({ field, message }) => [field, message]), asked };
}

describe.each(['validatingadmissionpolicies', 'mutatingadmissionpolicies'])('the author of %s', (resource) => {
  it('must be allowed to get all objects of the kind of parameters', async () => {
    const asked = ['get example.com/v1/limits */*'];
    const why = `user ${shown} must have "get" permission on all objects of the referenced paramKind (kind=Limit, apiVersion=example.com/v1)`;
    expect(await check(resource, policy(params))).toEqual({
      found: [['spec.paramKind', `Forbidden: ${why}`]],
      asked,
    });
    expect(await check(resource, policy(params), { allows: asked[0] as string })).toEqual({ found: [], asked });
  });

  it('needs no permission without parameters, for the same kind as before, and as a member of system:masters', async () => {
    const none = { found: [], asked: [] };
    expect(await check(resource, policy())).toEqual(none);
    expect(await check(resource, policy(params), { oldObject: policy(params) as never })).toEqual(none);
    expect(await check(resource, policy(params), { requester: { name: '', groups: ['system:masters'] } })).toEqual(
      none,
    );
  });

  it('must be allowed to get everything of the version whose kind is not served', async () => {
    const { asked } = await check(resource, policy({ ...params, kind: 'None' }), {
      oldObject: policy(params) as never,
    });
    expect(asked).toEqual(['get example.com/v1/* */*']);
  });
});

describe.each(['validatingadmissionpolicybindings', 'mutatingadmissionpolicybindings'])(
  'the author of %s',
  (resource) => {
    const swapped = resource.startsWith('mutating');
    const denied = (verb: string) =>
      `Forbidden: user ${swapped ? verb : shown} does not have "${swapped ? shown : verb}" permission on the object referenced by paramRef`;
    const minimum = (verb: string) =>
      `to determine minimum required permissions and user ${shown} does not have "${verb}" permission for all groups, versions and resources`;
    const binding = (paramRef?: JsonObject) => ({
      spec: { policyName: 'p', ...(paramRef === undefined ? {} : { paramRef }) },
    });
    const named = { name: 'a', namespace: 'n', parameterNotFoundAction: 'Deny' };

    it.each<[string, JsonObject, JsonObject | undefined, string, string]>([
      ['get the object of a name', named, policy(params), 'get example.com/v1/limits n/a', denied('get')],
      ['list objects to select', { selector: {} }, policy(params), 'list example.com/v1/limits /', denied('list')],
      ['get objects of all kinds of a policy without', named, policy(), 'get */*/* n/a', denied('get')],
      [
        'get objects of all kinds while there is no policy',
        named,
        undefined,
        'get */*/* n/a',
        `Forbidden: unable to get policy p ${minimum('get')}`,
      ],
      [
        'get all of the version of an unknown kind',
        named,
        policy({ ...params, kind: 'None' }),
        'get example.com/v1/* n/a',
        `Forbidden: unable to resolve paramKind &{example.com/v1 None} ${minimum('get')}`,
      ],
    ])('must be allowed to %s', async (_, ref, stored, asked, message) => {
      const of = stored === undefined ? {} : { policy: stored };
      const expected = { found: [['spec.paramRef', message]], asked: [asked] };
      expect(await check(resource, binding(ref), of)).toEqual(expected);
      expect(await check(resource, binding(ref), { ...of, oldObject: binding(ref) as never })).toEqual(expected);
      expect((await check(resource, binding(ref), { ...of, allows: asked })).found).toEqual([]);
    });

    it('needs no permission without a reference, and as a member of system:masters', async () => {
      const none = { found: [], asked: [] };
      expect(await check(resource, binding())).toEqual(none);
      expect(await check(resource, binding(named), { requester: { name: '', groups: ['system:masters'] } })).toEqual(
        none,
      );
    });
  },
);

it('a policy and a binding are refused after their validation', async () => {
  const server = await createServer({ apiDomain: 'k8s.io' });
  try {
    const send = async (method: string, url: string, body: object, as?: string) => {
      const headers = { 'content-type': 'application/json', ...(as === undefined ? {} : { 'impersonate-user': as }) };
      const response = await server.client.request({ method, url, headers, body: Buffer.from(JSON.stringify(body)) });
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(Buffer.from(chunk));
      const { message, details } = JSON.parse(Buffer.concat(chunks).toString());
      return {
        status: response.status,
        message,
        fields: details?.causes?.map(({ field }: { field: string }) => field),
      };
    };
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const rules = [{ apiGroups: [group], resources: ['*'], verbs: ['*'] }];
    await send('POST', `${rbac}/clusterroles`, { metadata: { name: 'author' }, rules });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'author' };
    const subjects = [{ kind: 'User', name: 'ann' }];
    await send('POST', `${rbac}/clusterrolebindings`, { metadata: { name: 'ann' }, roleRef, subjects });
    const matchConstraints = {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['pods'] }],
    };
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
    const made = (validations: object[]) => ({
      metadata: { name: 'p' },
      spec: { paramKind, matchConstraints, validations },
    });
    const policies = `/apis/${group}/v1/validatingadmissionpolicies`;
    expect(await send('POST', policies, made([]), 'ann')).toMatchObject({
      status: 422,
      fields: ['spec.validations', 'spec.auditAnnotations'],
    });
    const valid = made([{ expression: 'true' }]);
    expect(await send('POST', policies, valid, 'ann')).toMatchObject({
      status: 422,
      message: `ValidatingAdmissionPolicy.${group} "p" is invalid: spec.paramKind: Forbidden: user &{ann  [system:authenticated] map[]} must have "get" permission on all objects of the referenced paramKind (kind=ConfigMap, apiVersion=v1)`,
    });
    expect(await send('POST', policies, valid)).toMatchObject({ status: 201 });
    const bindings = `${policies.slice(0, -'policies'.length)}policybindings`;
    const paramRef = { name: 'limits', namespace: 'default', parameterNotFoundAction: 'Deny' };
    const bound = { metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Deny'], paramRef } };
    expect(await send('POST', bindings, bound, 'ann')).toMatchObject({ status: 422, fields: ['spec.paramRef'] });
    rules.push({ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] });
    await send('PUT', `${rbac}/clusterroles/author`, { metadata: { name: 'author' }, rules });
    expect(await send('POST', bindings, bound, 'ann')).toMatchObject({ status: 201 });
  } finally {
    await server.close();
  }
});
