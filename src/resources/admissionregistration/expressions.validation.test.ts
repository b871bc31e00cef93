import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { onCreate, onUpdate } from '../testing/kind.ts';
import { mutatingAdmissionPolicies } from './mutating-admission-policies.ts';
import { validatingAdmissionPolicies } from './validating-admission-policies.ts';
import { validatingWebhookConfigurations } from './validating-webhook-configurations.ts';

const matchConstraints = {
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
};
const policy = (spec: JsonObject): JsonObject => ({
  spec: {
    matchConstraints,
    validations: [{ expression: 'true' }],
    ...spec,
  },
});
const hook = (...conditions: string[]): JsonObject => ({
  webhooks: [
    {
      name: 'a.example.com',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      clientConfig: { url: 'https://127.0.0.1:1/x' },
      matchConditions: conditions.map((expression, i) => ({ name: `c${i}`, expression })),
    },
  ],
});
const ofPolicy = (spec: JsonObject) => onCreate(validatingAdmissionPolicies, policy(spec));
const undeclared = (name: string, source: string, column: number, mark: string) =>
  `Invalid value: ${JSON.stringify(source)}: compilation failed: ERROR: <input>:1:${column}: undeclared reference to '${name}' (in container '')\n | ${source}\n | ${mark}^`;

describe('expressions of policies', () => {
  it('must compile to the type of their field', () => {
    const spec = {
      matchConditions: [{ name: 'c', expression: ' request ' }],
      variables: [
        { name: 'a', expression: 'object.x +' },
        { name: 'b', expression: "'text'" },
      ],
      validations: [{ expression: 'variables.b', messageExpression: '1' }, { expression: "int('x') == 1" }],
      auditAnnotations: [{ key: 'k', valueExpression: ' [1] ' }],
    };
    expect(ofPolicy(spec)).toEqual([
      [
        'spec.auditAnnotations[0].valueExpression',
        'Invalid',
        'Invalid value: " [1] ": must evaluate to one of [string null_type] but got list(int)',
      ],
      [
        'spec.matchConditions[0].expression',
        'Invalid',
        'Invalid value: "request": must evaluate to bool but got kubernetes.AdmissionRequest',
      ],
      [
        'spec.validations[0].expression',
        'Invalid',
        'Invalid value: "variables.b": must evaluate to bool but got string',
      ],
      ['spec.validations[0].messageExpression', 'Invalid', 'Invalid value: "1": must evaluate to string but got int'],
      [
        'spec.validations[1].expression',
        'Internal',
        expect.stringContaining('Internal error: program instantiation failed: '),
      ],
      [
        'spec.variables[0].expression',
        'Invalid',
        expect.stringContaining('Invalid value: "object.x +": compilation failed: ERROR: <input>:1:11: Syntax error: '),
      ],
    ]);
  });

  it('have parameters if the policy has a kind of them, and variables if it has some', () => {
    const validations = [{ expression: 'params == null', messageExpression: 'string(authorizer == authorizer)' }];
    expect(ofPolicy({ validations })).toEqual([
      ['spec.validations[0].expression', 'Invalid', undeclared('params', 'params == null', 1, '')],
      [
        'spec.validations[0].messageExpression',
        'Invalid',
        expect.stringContaining("undeclared reference to 'authorizer'"),
      ],
    ]);
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
    const matchConditions = [{ name: 'c', expression: 'params == null' }];
    expect(ofPolicy({ paramKind, matchConditions, validations: [{ expression: 'params == null' }] })).toEqual([]);
    expect(
      ofPolicy({
        variables: [{ name: 'x', expression: '1' }],
        matchConditions: [{ name: 'c', expression: 'variables.x == 1' }],
      }),
    ).toEqual([['spec.matchConditions[0].expression', 'Invalid', undeclared('variables', 'variables.x == 1', 1, '')]]);
  });

  it('are not compiled again while the spec is unchanged, nor match conditions while they are', () => {
    const invalid = policy({ matchConditions: [{ name: 'c', expression: '1' }] });
    const update = (after: JsonObject) => onUpdate(validatingAdmissionPolicies, invalid, after);
    expect(update({ ...invalid, metadata: { labels: { a: 'b' } } })).toEqual([]);
    const other = { matchConditions: [{ name: 'c', expression: '1' }], validations: [{ expression: 'false' }] };
    expect(update(policy(other))).toEqual([]);
    expect(update(policy({ ...other, paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }))).toHaveLength(1);
  });

  it('use what the release before has, and those that are stored what this one has', () => {
    const conditions = (...expressions: string[]) =>
      policy({ matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })) });
    const ofThis = "isSemver('1.0.0')";
    const fault = undeclared('isSemver', ofThis, 9, '........');
    const path = 'spec.matchConditions[0].expression';
    const advice =
      'It is valid from release 1.33 on; new expressions must be valid in release 1.32 (--min-compatibility-version).';
    expect(onCreate(validatingAdmissionPolicies, conditions(ofThis))).toEqual([
      [path, 'Invalid', `${fault}\n${advice}`],
    ]);
    const before = conditions(ofThis);
    expect(onUpdate(validatingAdmissionPolicies, before, conditions(ofThis, 'true'))).toEqual([]);
    expect(onUpdate(validatingAdmissionPolicies, before, conditions(`${ofThis} && true`))).toHaveLength(1);
  });

  it('that are absent are reported once', () => {
    expect(ofPolicy({ validations: [{ expression: ' ' }] })).toHaveLength(1);
  });
});

describe('match conditions of webhooks', () => {
  it('must be boolean, and have neither parameters nor variables', () => {
    expect(onCreate(validatingWebhookConfigurations, hook('true', "'x'", 'params.x'))).toEqual([
      [
        'webhooks[0].matchConditions[1].expression',
        'Invalid',
        `Invalid value: "'x'": must evaluate to bool but got string`,
      ],
      ['webhooks[0].matchConditions[2].expression', 'Invalid', undeclared('params', 'params.x', 1, '')],
    ]);
  });

  it('are not compiled again while they are unchanged', () => {
    const after = { ...hook('1'), metadata: { labels: { a: 'b' } } };
    expect(onUpdate(validatingWebhookConfigurations, hook('1'), after)).toEqual([]);
    expect(onUpdate(validatingWebhookConfigurations, hook('1'), hook('1', '2'))).toHaveLength(2);
  });
});

describe('the mutations of a MutatingAdmissionPolicy', () => {
  const mutating = (...mutations: JsonObject[]) => ({
    spec: { matchConstraints, reinvocationPolicy: 'Never', variables: [{ name: 'x', expression: '1' }], mutations },
  });
  const applied = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
  const patched = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

  it('construct objects and patches', () => {
    const policy = mutating(
      applied(' Object{metadata: Object.metadata{labels: {"a": string(variables.x)}}}'),
      patched('[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a/b"), value: "1"}]'),
    );
    expect(onCreate(mutatingAdmissionPolicies, policy)).toEqual([]);
  });

  it.each([
    [applied("'teapot'"), 'applyConfiguration', `Invalid value: "'teapot'": must evaluate to Object but got string`],
    [applied('Object.spec{}'), 'applyConfiguration', 'must evaluate to Object but got Object.spec'],
    [patched('JSONPatch{}'), 'jsonPatch', 'must evaluate to list(JSONPatch) but got JSONPatch'],
    [patched('[JSONPatch{op: 1}]'), 'jsonPatch', "expected type of field 'op' is 'string' but provided type is 'int'"],
    [applied('Objec{}'), 'applyConfiguration', "undeclared reference to 'Objec' (in container '')"],
  ])('%j is refused', (mutation, field, message) => {
    expect(onCreate(mutatingAdmissionPolicies, mutating(mutation))).toEqual([
      [`spec.mutations[0].${field}.expression`, 'Invalid', expect.stringContaining(message)],
    ]);
  });

  it('alone construct objects', () => {
    const policy = mutating(applied('Object{}'));
    const variables = [{ name: 'y', expression: 'Object{}' }];
    expect(onCreate(mutatingAdmissionPolicies, { ...policy, spec: { ...policy.spec, variables } })).toEqual([
      ['spec.variables[0].expression', 'Invalid', expect.stringContaining("undeclared reference to 'Object'")],
    ]);
  });
});
