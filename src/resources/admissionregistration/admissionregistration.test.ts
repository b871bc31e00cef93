import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { created, type Fragment, onCreate, onUpdate, type ReportedError, type Row, sorted } from '../testing/kind.ts';
import { duplicate, forbidden, invalid, missing, required, says, unsupported } from '../testing/messages.ts';
import { mutatingAdmissionPolicies } from './mutating-admission-policies.ts';
import { mutatingAdmissionPolicyBindings } from './mutating-admission-policy-bindings.ts';
import { mutatingWebhookConfigurations } from './mutating-webhook-configurations.ts';
import { validatingAdmissionPolicies } from './validating-admission-policies.ts';
import { validatingAdmissionPolicyBindings } from './validating-admission-policy-bindings.ts';
import { validatingWebhookConfigurations } from './validating-webhook-configurations.ts';

const rule = { apiGroups: ['a.b'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['x'] };
const hook = (more: Fragment): Fragment => ({
  webhooks: [
    {
      name: 'a.example.com',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      clientConfig: { url: 'https://127.0.0.1:1/x' },
      ...more,
    },
  ],
});
const client = 'webhooks[0].clientConfig';
const url = (text: string) => hook({ clientConfig: { url: text } });
const service = (more: Fragment) => hook({ clientConfig: { service: { namespace: 'n', name: 's', ...more } } });
const form = '; desired format: https://host[/path]';
const withRule = (more: Fragment) => hook({ rules: [{ ...rule, ...more }] });

describe('webhooks', () => {
  const rows: readonly Row[] = [
    ['a url', hook({ rules: [rule] })],
    [
      'many invalid fields',
      {
        webhooks: [
          {
            name: 'short',
            clientConfig: { url: 'http://x' },
            timeoutSeconds: 99,
            admissionReviewVersions: [],
            sideEffects: 'Some',
          },
        ],
      },
      ['webhooks[0].admissionReviewVersions', 'Required', required('must specify one of v1, v1beta1')],
      [`${client}.url`, 'Invalid', invalid('http', `'https' is the only allowed URL scheme${form}`)],
      [
        'webhooks[0].name',
        'Invalid',
        invalid('short', 'should be a domain with at least three segments separated by dots'),
      ],
      ['webhooks[0].sideEffects', 'NotSupported', unsupported('Some', 'None', 'NoneOnDryRun')],
      ['webhooks[0].timeoutSeconds', 'Invalid', invalid(99, 'the timeout value must be between 1 and 30 seconds')],
    ],
    ['no host', url('https:///x'), [`${client}.url`, 'Invalid', invalid('', `host must be specified${form}`)]],
    [
      'a URL with user, query and fragment',
      url('https://u:p@h/x?q=1#f'),
      [`${client}.url`, 'Invalid', invalid('u:***', 'user information is not permitted in the URL')],
      [`${client}.url`, 'Invalid', invalid('f', 'fragments are not permitted in the URL')],
      [`${client}.url`, 'Invalid', invalid('q=1', 'query parameters are not permitted in the URL')],
    ],
    [
      'a service',
      service({ name: '', namespace: '', port: 0, path: '/a//B/' }),
      [`${client}.service.name`, 'Required', 'Required value'],
      [`${client}.service.namespace`, 'Required', 'Required value'],
      [`${client}.service.path`, 'Invalid', invalid('/a//B/', 'segment[1] may not be empty')],
      [`${client}.service.path`, 'Invalid', invalid('/a//B/', `segment[2]: ${says.subdomain}`)],
      [`${client}.service.port`, 'Invalid', invalid(0, `port is not valid: ${says.port}`)],
    ],
    [
      'a relative service path',
      service({ path: 'x' }),
      [`${client}.service.path`, 'Invalid', invalid('x', "must start with a '/'")],
      [`${client}.service.path`, 'Invalid', invalid('x', 'segment[0] may not be empty')],
    ],
    [
      'invalid review versions',
      hook({ admissionReviewVersions: ['v2', 'v2', '1'] }),
      [
        'webhooks[0].admissionReviewVersions',
        'Invalid',
        invalid(['v2', 'v2', '1'], 'must include at least one of v1, v1beta1'),
      ],
      ['webhooks[0].admissionReviewVersions[1]', 'Invalid', invalid('v2', 'duplicate version')],
      ['webhooks[0].admissionReviewVersions[2]', 'Invalid', invalid('1', says.label1035)],
    ],
    ...(
      [
        ['50%', 'invalid URL escape "%"'],
        ['https://x/%zz', 'invalid URL escape "%zz"'],
        ['https://x:y', 'invalid port ":y" after host'],
        ['https://a b', 'invalid character " " in host name'],
        ['https://[::1', "missing ']' in host"],
        ['1:2', 'first path segment in URL cannot contain colon'],
        [':x', 'missing protocol scheme'],
        ['https://x/\n', 'net/url: invalid control character in URL'],
      ] as const
    ).map(
      ([text, fault]): Row => [
        text,
        url(text),
        [
          `${client}.url`,
          'Required',
          required(`url must be a valid URL: parse ${JSON.stringify(text)}: ${fault}${form}`),
        ],
      ],
    ),
    [
      'an empty rule',
      hook({ rules: [{}] }),
      ['webhooks[0].rules[0].apiGroups', 'Required', missing],
      ['webhooks[0].rules[0].apiVersions', 'Required', missing],
      ['webhooks[0].rules[0].operations', 'Required', missing],
      ['webhooks[0].rules[0].resources', 'Required', missing],
    ],
    [
      '* with other entries',
      withRule({ operations: ['*', 'CREATE'], apiGroups: ['*', 'a'], apiVersions: ['*', ''], scope: 'Odd' }),
      [
        'webhooks[0].rules[0].apiGroups',
        'Invalid',
        invalid(['*', 'a'], "if '*' is present, must not specify other API groups"),
      ],
      [
        'webhooks[0].rules[0].apiVersions',
        'Invalid',
        invalid(['*', ''], "if '*' is present, must not specify other API versions"),
      ],
      ['webhooks[0].rules[0].apiVersions[1]', 'Required', missing],
      [
        'webhooks[0].rules[0].operations',
        'Invalid',
        invalid(['*', 'CREATE'], "if '*' is present, must not specify other operations"),
      ],
      ['webhooks[0].rules[0].scope', 'NotSupported', unsupported('Odd', '*', 'Cluster', 'Namespaced')],
    ],
    [
      'an unknown operation',
      withRule({ operations: ['ODD'] }),
      [
        'webhooks[0].rules[0].operations[0]',
        'NotSupported',
        unsupported('ODD', '*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'),
      ],
    ],
    [
      'duplicate subresources',
      withRule({ resources: ['a/*', 'a/b', '*/c', 'd/c'] }),
      ['webhooks[0].rules[0].resources[1]', 'Invalid', invalid('a/b', "if 'a/*' is present, must not specify a/b")],
      ['webhooks[0].rules[0].resources[3]', 'Invalid', invalid('d/c', "if '*/c' is present, must not specify d/c")],
    ],
    [
      '*/* with other resources',
      withRule({ resources: ['*/*', 'a/b'] }),
      [
        'webhooks[0].rules[0].resources',
        'Invalid',
        invalid(['*/*', 'a/b'], "if '*/*' is present, must not specify other resources"),
      ],
    ],
    [
      'invalid match conditions',
      hook({ matchConditions: [{ name: 'a b', expression: ' ' }] }),
      ['webhooks[0].matchConditions[0].expression', 'Required', missing],
      ['webhooks[0].matchConditions[0].name', 'Invalid', invalid('a b', says.qualified)],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(validatingWebhookConfigurations, fragment)).toEqual(sorted(expected));
  });
  test('mutating webhooks', () => {
    const one = { name: 'a.example.com', clientConfig: {} };
    expect(onCreate(mutatingWebhookConfigurations, { webhooks: [one, one] })).toEqual(
      sorted([
        ...[0, 1].flatMap((i): ReportedError[] => [
          [`webhooks[${i}].admissionReviewVersions`, 'Required', required('must specify one of v1, v1beta1')],
          [`webhooks[${i}].clientConfig`, 'Required', required('exactly one of url or service is required')],
          [`webhooks[${i}].sideEffects`, 'Required', required('must specify one of None, NoneOnDryRun')],
        ]),
        ['webhooks[1].name', 'Duplicate', duplicate('a.example.com')],
      ]),
    );
  });
  test('an update may leave what a new configuration must not have', () => {
    const stored = {
      name: 'a.example.com',
      clientConfig: { url: 'https://example.com' },
      sideEffects: 'Some',
      admissionReviewVersions: ['v2'],
    };
    const [before, after] = [{ webhooks: [stored, stored] }, { webhooks: [stored, stored, stored] }];
    expect(onCreate(validatingWebhookConfigurations, before)).toHaveLength(5);
    expect(onUpdate(validatingWebhookConfigurations, before, after)).toEqual([]);
    const strict = { ...stored, sideEffects: 'None', admissionReviewVersions: ['v1'] };
    expect(onUpdate(validatingWebhookConfigurations, { webhooks: [strict] }, before)).toEqual(
      onCreate(validatingWebhookConfigurations, before),
    );
  });

  test('defaults', () => {
    const { webhooks } = created(mutatingWebhookConfigurations, service({}));
    expect(webhooks).toMatchObject([
      {
        clientConfig: { service: { port: 443 } },
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        reinvocationPolicy: 'Never',
        timeoutSeconds: 10,
      },
    ]);
  });
});

describe('policies', () => {
  const policy = (more: Fragment): Fragment => ({
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }], ...more },
  });
  const rows: readonly Row[] = [
    ['a rule', policy({})],
    ['no constraints', policy({ matchConstraints: null }), ['spec.matchConstraints', 'Required', missing]],
    ['no rules', policy({ matchConstraints: {} }), ['spec.matchConstraints.resourceRules', 'Required', missing]],
    [
      'neither validations nor audit annotations',
      policy({ validations: [] }),
      ['spec.auditAnnotations', 'Required', required('validations or auditAnnotations must contain at least one item')],
      ['spec.validations', 'Required', required('validations or auditAnnotations must contain at least one item')],
    ],
    [
      'duplicate names',
      policy({ matchConstraints: { resourceRules: [{ ...rule, resourceNames: ['a', 'a', 'b/c'] }] } }),
      ['spec.matchConstraints.resourceRules[0].resourceNames[1]', 'Duplicate', duplicate('a')],
      ['spec.matchConstraints.resourceRules[0].resourceNames[2]', 'Invalid', invalid('b/c', "may not contain '/'")],
    ],
    [
      'invalid paramKind',
      policy({ paramKind: { apiVersion: 'A/1', kind: 'a_b' } }),
      ['spec.paramKind.apiVersion', 'Invalid', invalid('A', says.subdomain)],
      ['spec.paramKind.apiVersion', 'Invalid', invalid('1', says.label1035)],
      [
        'spec.paramKind.kind',
        'Invalid',
        invalid('a_b', `may have mixed case, but should otherwise match: ${says.label1035}`),
      ],
    ],
    [
      'invalid variables',
      policy({
        variables: [
          { name: 'a-b', expression: '1' },
          { name: '', expression: '' },
        ],
      }),
      ['spec.variables[0].name', 'Invalid', invalid('a-b', 'must be a valid CEL identifier')],
      ['spec.variables[1].expression', 'Required', required('expression is not specified')],
      ['spec.variables[1].name', 'Required', required('name is not specified')],
    ],
    [
      'invalid validations',
      policy({
        validations: [
          { expression: '', message: ' ', messageExpression: ' ', reason: 'Odd' },
          { expression: 'true\n|| false' },
          { expression: 'true', message: 'b\nc' },
        ],
      }),
      ['spec.validations[0].expression', 'Required', required('expression is not specified')],
      ['spec.validations[0].message', 'Invalid', invalid(' ', 'message must be non-empty if specified')],
      ['spec.validations[0].messageExpression', 'Invalid', invalid(' ', 'must be non-empty if specified')],
      [
        'spec.validations[0].reason',
        'NotSupported',
        unsupported('Odd', 'Forbidden', 'Invalid', 'RequestEntityTooLarge'),
      ],
      ['spec.validations[2].message', 'Invalid', invalid('b\nc', 'message must not contain line breaks')],
    ],
    [
      'invalid audit annotations',
      policy({
        auditAnnotations: [
          { key: 'a b', valueExpression: '' },
          { key: 'c', valueExpression: "'1'" },
          { key: 'c', valueExpression: "'1'" },
        ],
      }),
      ['spec.auditAnnotations[0].key', 'Invalid', invalid('x/a b', says.qualified)],
      ['spec.auditAnnotations[0].valueExpression', 'Required', required('valueExpression is not specified')],
      ['spec.auditAnnotations[2].key', 'Duplicate', duplicate('c')],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(validatingAdmissionPolicies, fragment)).toEqual(sorted(expected));
  });
});

describe('policy bindings', () => {
  const exclusive = 'name and selector are mutually exclusive';
  const binding = (more: Fragment): Fragment => ({ spec: { policyName: 'p', validationActions: ['Deny'], ...more } });
  const rows: readonly Row[] = [
    ['a policy', binding({})],
    [
      'an empty spec',
      {},
      ['spec.policyName', 'Required', missing],
      ['spec.validationActions', 'Required', required('at least one validation action is required')],
    ],
    [
      'duplicate actions',
      binding({ validationActions: ['Deny', 'Warn'] }),
      [
        'spec.validationActions',
        'Invalid',
        invalid(
          ['Deny', 'Warn'],
          'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
        ),
      ],
    ],
    [
      'unknown actions',
      binding({ validationActions: ['Odd', 'Deny', 'Deny'] }),
      ['spec.validationActions[0]', 'NotSupported', unsupported('Odd', 'Audit', 'Deny', 'Warn')],
      ['spec.validationActions[2]', 'Duplicate', duplicate('Deny')],
    ],
    [
      'paramRef without name or selector',
      binding({ paramRef: {} }),
      ['spec.paramRef', 'Required', required('one of name or selector must be specified')],
      ['spec.paramRef.parameterNotFoundAction', 'Required', missing],
    ],
    [
      'paramRef with name and selector',
      binding({ paramRef: { name: 'n', selector: {}, parameterNotFoundAction: 'Deny' } }),
      ['spec.paramRef.name', 'Forbidden', forbidden(exclusive)],
      ['spec.paramRef.selector', 'Forbidden', forbidden(exclusive)],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(validatingAdmissionPolicyBindings, fragment)).toEqual(sorted(expected));
  });
});

describe('mutating admission policies', () => {
  const jsonPatch = { expression: '[JSONPatch{}]' };
  const policy = (mutations: JsonObject[], more: JsonObject = {}) => ({
    spec: { matchConstraints: { resourceRules: [rule] }, mutations, reinvocationPolicy: 'Never', ...more },
  });
  const rows: readonly Row[] = [
    ['a patch', policy([{ patchType: 'JSONPatch', jsonPatch }])],
    [
      'an empty spec',
      { spec: {} },
      ['spec.matchConstraints', 'Required', missing],
      ['spec.mutations', 'Required', required('mutations must contain at least one item')],
      ['spec.reinvocationPolicy', 'Required', missing],
    ],
    [
      'mutations that do not match patchType',
      policy([
        { patchType: 'ApplyConfiguration', jsonPatch },
        { patchType: 'JSONPatch', jsonPatch: {} },
        { patchType: 'Odd' },
        {},
      ]),
      [
        'spec.mutations[0].applyConfiguration',
        'Required',
        required('must be specified when patchType is ApplyConfiguration'),
      ],
      [
        'spec.mutations[0].jsonPatch',
        'Invalid',
        invalid(jsonPatch, 'must not be specified when patchType is ApplyConfiguration'),
      ],
      ['spec.mutations[1].jsonPatch.expression', 'Required', required('expression is not specified')],
      ['spec.mutations[2].patchType', 'NotSupported', unsupported('Odd', 'ApplyConfiguration', 'JSONPatch')],
      ['spec.mutations[3].patchType', 'Required', missing],
    ],
    [
      'unknown policies',
      policy([{ patchType: 'JSONPatch', jsonPatch }], { failurePolicy: 'Odd', reinvocationPolicy: 'Odd' }),
      ['spec.failurePolicy', 'NotSupported', unsupported('Odd', 'Fail', 'Ignore')],
      ['spec.reinvocationPolicy', 'NotSupported', unsupported('Odd', 'IfNeeded', 'Never')],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(mutatingAdmissionPolicies, fragment)).toEqual(sorted(expected));
  });

  test('defaults', () => {
    const { spec } = created(mutatingAdmissionPolicies, policy([]));
    expect(spec).toMatchObject({ failurePolicy: 'Fail', matchConstraints: { matchPolicy: 'Equivalent' } });
  });

  test('policyName of a binding is required', () => {
    expect(onCreate(mutatingAdmissionPolicyBindings, { spec: { policyName: 'p' } })).toEqual([]);
    expect(onCreate(mutatingAdmissionPolicyBindings, { spec: { paramRef: {} } })).toEqual([
      ['spec.paramRef', 'Required', required('one of name or selector must be specified')],
      ['spec.paramRef.parameterNotFoundAction', 'Required', missing],
      ['spec.policyName', 'Required', missing],
    ]);
  });
});
