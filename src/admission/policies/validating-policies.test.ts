import { describe, expect, it } from 'vitest';
import { type ApiObject, type JsonObject, StatusError } from '../../meta/index.ts';
import { fakeInitializer, requestFor, type StoredObject, stored } from '../testing/initializer.ts';
import type { AdmissionRequest, PluginInitializer, PolicyCheck } from '../types.ts';
import { validatingPolicies } from './validating-policies.ts';

const rule = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] };
/** The defaults of selectors. */
const everything = { namespaceSelector: {}, objectSelector: {} };
const policy = (spec: JsonObject, name = 'p'): StoredObject =>
  stored('validatingadmissionpolicies', name, {
    metadata: { uid: name, generation: 1 },
    spec: {
      ...spec,
      matchConstraints: {
        ...everything,
        ...((spec['matchConstraints'] as JsonObject | undefined) ?? { resourceRules: [rule] }),
      },
    },
  });
const binding = (spec: JsonObject = {}, name = 'b', policyName = 'p'): StoredObject =>
  stored('validatingadmissionpolicybindings', name, {
    spec: { policyName, validationActions: ['Deny'], ...spec },
  });
const validations = (...expressions: (string | JsonObject)[]): JsonObject => ({
  validations: expressions.map((one) => (typeof one === 'string' ? { expression: one } : one)),
});
const namespace = stored('namespaces', 'n', { metadata: { labels: { env: 'test' } } });

interface Seen {
  readonly error: StatusError | undefined;
  readonly warnings: readonly string[];
  readonly annotations: { readonly [key: string]: string };
  readonly checks: readonly PolicyCheck[];
}

/** Admits the creation of a config map. */
async function admit(
  objects: readonly StoredObject[],
  part: Partial<AdmissionRequest> = {},
  more: Partial<PluginInitializer> = {},
): Promise<Seen> {
  const checks: PolicyCheck[] = [];
  const initializer = {
    ...fakeInitializer([namespace, ...objects]),
    policyChecked: (check: PolicyCheck) => checks.push(check),
    ...more,
  };
  const warnings: string[] = [];
  const annotations: { [key: string]: string } = {};
  const request = requestFor(
    'configmaps',
    { data: { a: '1' } },
    {
      warn: (text) => warnings.push(text),
      annotate: (key, value) => {
        annotations[key] = value;
      },
      ...part,
    },
  );
  let error: StatusError | undefined;
  try {
    await validatingPolicies(initializer).validate?.(request);
  } catch (thrown) {
    if (!(thrown instanceof StatusError)) throw thrown;
    error = thrown;
  }
  return { error, warnings, annotations, checks };
}

/** The message of the rejection, after the names of policy and binding. */
async function refusal(...args: Parameters<typeof admit>): Promise<string | undefined> {
  const { error } = await admit(...args);
  return error?.message.replace(/^.* denied request: /, '');
}

describe('a request that cannot be converted to the version in which a policy matched', () => {
  const versions = {
    ...requestFor('configmaps', {}).versions,
    read: () => Promise.reject(new StatusError(500, '', 'the webhook does not answer')),
  };

  it('is denied by failurePolicy Fail, and admitted by Ignore', async () => {
    const of = (failurePolicy: string) => [policy({ ...validations('true'), failurePolicy }), binding()];
    expect(await refusal(of('Fail'), { versions })).toBe(
      'failed to configure binding: failed to convert object version: the webhook does not answer',
    );
    expect(await refusal(of('Ignore'), { versions })).toBeUndefined();
  });
});

it('a policy that reads a namespace that does not exist fails with 404', async () => {
  const objects = [policy(validations('namespaceObject == null')), binding()];
  const { error } = await admit(objects, { namespace: 'lost' });
  expect(error).toMatchObject({ code: 404, message: 'namespaces "lost" not found' });
});

describe('a validation that does not hold', () => {
  it('rejects the request with the reason and the code of the policy', async () => {
    const { error } = await admit([policy(validations({ expression: 'false', reason: 'Forbidden' })), binding()]);
    const message = `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: false`;
    expect(error?.toStatus()).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: `configmaps "x" is forbidden: ${message}`,
      details: { name: 'x', kind: 'configmaps', causes: [{ message }] },
    });
  });

  it.each<[string, JsonObject, number, string]>([
    ['Invalid by default', { expression: 'false' }, 422, 'failed expression: false'],
    ['its message', { expression: 'false', message: ' no ' }, 422, 'no'],
    ['too large', { expression: 'false', message: 'big', reason: 'RequestEntityTooLarge' }, 413, 'big'],
    [
      'its messageExpression',
      { expression: 'false', message: 'no', messageExpression: "' got ' + object.data.a + ' '" },
      422,
      'got 1',
    ],
    [
      'a messageExpression that fails',
      { expression: 'false', message: 'no', messageExpression: 'object.nope' },
      422,
      'no',
    ],
    [
      'a message of several lines',
      { expression: 'false', messageExpression: "'a\\nb'" },
      422,
      'failed expression: false',
    ],
    ['an empty message', { expression: 'false', message: 'no', messageExpression: "' '" }, 422, 'no'],
    [
      'a message that is too long',
      {
        expression: 'false',
        message: 'no',
        messageExpression:
          "('x'.replace('x', 'xxxxxxxxxxxxxxxx')).replace('x', '................................................................................................').replace('.', '....')",
      },
      422,
      'no',
    ],
  ])('with %s', async (_, validation, code, message) => {
    const seen = await admit([policy(validations(validation)), binding()]);
    expect([seen.error?.code, seen.error?.message]).toEqual([
      code,
      expect.stringContaining(`denied request: ${message}`),
    ]);
  });

  it('is a warning or an annotation if the binding says so', async () => {
    const objects = [
      policy(validations('true', { expression: 'false', message: 'a < b' })),
      binding({ validationActions: ['Warn', 'Audit'] }),
    ];
    const { error, warnings, annotations, checks } = await admit(objects);
    expect(error).toBeUndefined();
    expect(warnings).toEqual(["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': a < b"]);
    expect(annotations).toEqual({
      'validation.policy.admission.k8s.io/validation_failure':
        '[{"message":"a \\u003c b","policy":"p","binding":"b","expressionIndex":1,"validationActions":["Warn","Audit"]}]',
    });
    const check = { policy: 'p', binding: 'b', error: 'invalid_error' };
    expect(checks).toEqual([
      { ...check, action: 'warn' },
      { ...check, action: 'audit' },
    ]);
  });

  it('of the first policy by name decides, and is counted once for each binding', async () => {
    const objects = [
      policy(validations({ expression: 'false', message: 'a' }), 'a'),
      policy(validations({ expression: 'false', message: 'b' }), 'b'),
      binding({}, 'one', 'b'),
      binding({}, 'two', 'a'),
    ];
    const { error, checks } = await admit(objects);
    expect(error?.message).toContain("'a' with binding 'two' denied request: a");
    expect(checks.map(({ binding: name, action }) => [name, action])).toEqual([
      ['two', 'deny'],
      ['one', 'deny'],
    ]);
  });

  it('is nothing without a binding, and not for policies and reviews', async () => {
    expect(await refusal([policy(validations('false'))])).toBeUndefined();
    const { handles } = validatingPolicies(fakeInitializer());
    const at = (resource: string) => handles?.({ operation: 'CREATE', resource, subresource: '' });
    expect(at('validatingadmissionpolicies.admissionregistration.k8s.io')).toBe(false);
    expect(at('tokenreviews.authentication.k8s.io')).toBe(false);
    expect(at('validatingwebhookconfigurations.admissionregistration.k8s.io')).toBe(true);
  });
});

describe('what a policy applies to', () => {
  const denying = validations('false');
  const matching = (matchConstraints: JsonObject) => [policy({ ...denying, matchConstraints }), binding()];

  it.each<[string, readonly StoredObject[], boolean]>([
    ['a resource of its rules', matching({ resourceRules: [{ ...rule, resources: ['configmaps'] }] }), true],
    ['another resource', matching({ resourceRules: [{ ...rule, resources: ['pods'] }] }), false],
    ['an excluded resource', matching({ resourceRules: [rule], excludeResourceRules: [rule] }), false],
    ['a namespace', matching({ resourceRules: [rule], namespaceSelector: { matchLabels: { env: 'test' } } }), true],
    ['another namespace', matching({ resourceRules: [rule], namespaceSelector: { matchLabels: { env: 'x' } } }), false],
    [
      'what the binding selects',
      [policy(denying), binding({ matchResources: { ...everything, objectSelector: { matchLabels: { a: 'b' } } } })],
      false,
    ],
    [
      'what its conditions select',
      [policy({ ...denying, matchConditions: [{ name: 'c', expression: 'false' }] }), binding()],
      false,
    ],
    [
      'conditions that hold',
      [
        policy({ ...denying, matchConditions: [{ name: 'c', expression: "request.operation == 'CREATE'" }] }),
        binding(),
      ],
      true,
    ],
  ])('%s', async (_, objects, applies) => {
    expect((await admit(objects)).error !== undefined).toBe(applies);
  });
});

describe('errors', () => {
  const failing = validations('object.nope == 1');
  const failure = "expression 'object.nope == 1' resulted in error: no such key: nope";

  it('deny, or are ignored, by the failure policy', async () => {
    expect(await refusal([policy(failing), binding()])).toBe(failure);
    const { error, checks } = await admit([policy({ ...failing, failurePolicy: 'Ignore' }), binding()]);
    expect(error).toBeUndefined();
    expect(checks).toEqual([{ policy: 'p', binding: 'b', error: 'invalid_error', action: 'allow' }]);
  });

  it('of match conditions deny, or exclude the request', async () => {
    const conditions = { matchConditions: [{ name: 'c', expression: 'object.nope == 1' }] };
    expect(await refusal([policy({ ...validations('false'), ...conditions }), binding()])).toBe(failure);
    const ignoring = { ...validations('false'), ...conditions, failurePolicy: 'Ignore' };
    expect(await admit([policy(ignoring), binding()])).toMatchObject({ error: undefined, checks: [] });
  });

  it('of a stored expression that does not compile are those of the policy', async () => {
    const { error, checks } = await admit([policy(validations('nope')), binding()]);
    expect(error?.message).toContain(
      'denied request: compilation error: compilation failed: ERROR: <input>:1:1: undeclared',
    );
    expect(checks).toMatchObject([{ error: 'compile_error', action: 'deny' }]);
  });

  it('a request that costs too much is refused, and no further expression is evaluated', async () => {
    const numbers = Array.from({ length: 900 }, (_, i) => i);
    const expensive = 'object.items.all(x, object.items.all(y, x + y >= 0)) || true';
    const object = requestFor('configmaps', { items: numbers }).object as ApiObject;
    const many = validations(...Array.from({ length: 12 }, () => expensive));
    const { error, checks } = await admit([policy(many), binding()], { object });
    expect(error?.message).toContain('validation failed due to running out of cost budget, no further');
    expect(checks).toMatchObject([{ error: 'out_of_budget', action: 'deny' }]);
  });
});

describe('parameters', () => {
  const config = (name: string, max: string, place = 'n', labels: JsonObject = {}) =>
    stored('configmaps', name, { data: { max }, metadata: { labels } }, place);
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    ...validations({
      expression: "params != null && params.data.max == '1'",
      messageExpression: "'max is ' + params.data.max",
    }),
  };
  const bound = (paramRef: JsonObject, ...objects: StoredObject[]) => [policy(spec), binding({ paramRef }), ...objects];

  it.each<[string, readonly StoredObject[], string | undefined]>([
    ['by name', bound({ name: 'c', namespace: 'other' }, config('c', '2', 'other')), 'max is 2'],
    ['in the namespace of the request', bound({ name: 'c' }, config('c', '1'), config('c', '2', 'other')), undefined],
    [
      'by a selector, each of them',
      bound(
        { selector: { matchLabels: { a: 'b' } } },
        config('c', '1', 'n', { a: 'b' }),
        config('d', '3', 'n', { a: 'b' }),
        config('e', '4'),
      ),
      'max is 3',
    ],
    [
      'none, with Deny',
      bound({ name: 'c', parameterNotFoundAction: 'Deny' }),
      'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    ],
    ['none, with Allow', bound({ name: 'c', parameterNotFoundAction: 'Allow' }), undefined],
    ['no reference', [policy(spec), binding()], "failed expression: params != null && params.data.max == '1'"],
    [
      'of an unknown kind',
      [policy({ ...spec, paramKind: { apiVersion: 'a.b/v1', kind: 'Unknown' } }), binding({ paramRef: { name: 'c' } })],
      "failed to configure policy: failed to find resource referenced by paramKind: 'a.b/v1, Kind=Unknown'",
    ],
    [
      'with the namespace of a cluster-scoped kind',
      [
        policy({ ...spec, paramKind: { apiVersion: 'v1', kind: 'Node' } }),
        binding({ paramRef: { name: 'c', namespace: 'x' } }),
      ],
      'failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
    ],
  ])('%s', async (_, objects, message) => {
    expect(await refusal(objects)).toBe(message);
  });

  it('in no namespace cannot be those of a cluster-scoped object', async () => {
    expect(await refusal(bound({ name: 'c' }), { namespace: '' })).toBe(
      'failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    );
  });

  it('that cannot be found are ignored if failures are', async () => {
    const ignoring = policy({ ...spec, failurePolicy: 'Ignore' });
    const paramRef = { name: 'c', parameterNotFoundAction: 'Deny' };
    expect(await refusal([ignoring, binding({ paramRef })])).toBeUndefined();
  });
});

describe('audit annotations', () => {
  const annotating = (...expressions: string[]) => ({
    ...validations(),
    auditAnnotations: expressions.map((valueExpression, i) => ({ key: `k${i}`, valueExpression })),
  });

  it('are the values of their expressions, but for null and blank ones', async () => {
    const spec = annotating("' ' + object.data.a", 'null', "' '");
    const { annotations, error } = await admit([policy(spec), binding(), binding({}, 'c')]);
    expect(error).toBeUndefined();
    expect(annotations).toEqual({ 'p/k0': '1' });
  });

  it('of several parameters are joined', async () => {
    const spec = { ...annotating('string(params.data.max)'), paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } };
    const configs = ['1', '2'].map((max) => stored('configmaps', max, { data: { max } }, 'n'));
    const { annotations } = await admit([policy(spec), binding({ paramRef: { selector: {} } }), ...configs]);
    expect(annotations).toEqual({ 'p/k0': '1, 2' });
  });

  it('of very many parameters are joined up to the value that exceeds 16,384 characters', async () => {
    const spec = { ...annotating('string(params.data.text)'), paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } };
    const texts = Array.from({ length: 10 }, (_, i) => String(i).repeat(5_000));
    const configs = texts.map((text, i) => stored('configmaps', `c${i}`, { data: { text } }, 'n'));
    const { annotations } = await admit([policy(spec), binding({ paramRef: { selector: {} } }), ...configs]);
    expect(annotations).toEqual({ 'p/k0': texts.slice(0, 4).join(', ') });
  });

  it('that fail deny whatever the binding says, or are ignored', async () => {
    const spec = annotating('string(object.nope)');
    const warning = binding({ validationActions: ['Warn'] });
    expect(await refusal([policy(spec), warning])).toContain('no such key: nope');
    expect(await refusal([policy({ ...spec, failurePolicy: 'Ignore' }), warning])).toBeUndefined();
  });

  it('have at most 10 KiB', async () => {
    const long = requestFor('configmaps', { data: { a: 'é'.repeat(6000) } }).object;
    const { annotations } = await admit([policy(annotating('string(object.data.a)')), binding()], { object: long });
    expect(annotations['p/k0']).toBe('é'.repeat(5120));
  });
});

describe('variables of expressions', () => {
  it('have the namespace, and the decisions of the authorizer', async () => {
    const spec = validations(
      "namespaceObject.metadata.labels.env == 'test'",
      "authorizer.group('').resource('pods').namespace('n').check('create').allowed()",
    );
    expect(await refusal([policy(spec), binding()])).toBeUndefined();
    const denying = fakeInitializer([], ({ verb }) => verb === 'create').authorizeAccess;
    expect(await refusal([policy(spec), binding()], {}, { authorizeAccess: denying })).toContain(
      'failed expression: authorizer',
    );
    expect(
      await refusal([policy(validations('namespaceObject == null')), binding()], { namespace: '' }),
    ).toBeUndefined();
  });

  it('of the policy', async () => {
    const spec = { variables: [{ name: 'a', expression: 'object.data.a' }], ...validations("variables.a == '2'") };
    expect(await refusal([policy(spec), binding()])).toBe("failed expression: variables.a == '2'");
  });

  it('oldObject is that of the update, and object is null in a deletion', async () => {
    const oldObject = stored('', 'x', { data: { a: '0' } }).object;
    const objects = [policy(validations('object == null && oldObject.data.a == "0"')), binding()];
    expect(await refusal(objects, { operation: 'DELETE', object: undefined, oldObject })).toBeUndefined();
  });
});

describe('changes of policies', () => {
  it('take effect at once, and a policy is compiled once for each generation', async () => {
    const objects = [namespace, policy(validations('false')), binding()];
    const plugin = validatingPolicies(fakeInitializer(objects));
    const validate = async () => plugin.validate?.(requestFor('configmaps', {}));
    await expect(validate()).rejects.toThrow('failed expression: false');
    const change = (generation: number) => {
      objects[1] = policy(validations('true'));
      objects[1].object.metadata.generation = generation;
    };
    change(1);
    await expect(validate()).rejects.toThrow('failed expression: false');
    change(2);
    await validate();
  });
});
