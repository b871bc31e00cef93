import { describe, expect, it } from 'vitest';
import { type Json, namesFor } from '../../meta/index.ts';
import { decodeConfiguration } from '../../schema/index.ts';
import { authorizationFormat, misnamed } from './configuration.ts';

const names = namesFor('k8s.io');
const header = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration' };
const decode = (value: Json) => decodeConfiguration(authorizationFormat, value, names);
const of = (...authorizers: Json[]) => decode({ ...header, authorizers });
const problems = (found: ReturnType<typeof decode>) => ('problems' in found ? found.problems : []);

const good: { readonly [field: string]: Json } = {
  authorizedTTL: '1m0s',
  unauthorizedTTL: '10s',
  timeout: '3s',
  subjectAccessReviewVersion: 'v1',
  matchConditionSubjectAccessReviewVersion: 'v1',
  failurePolicy: 'Deny',
  connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/etc/hook.kubeconfig' },
  matchConditions: [{ expression: "request.user != 'a'" }],
};
const webhook = (more: { readonly [field: string]: Json | undefined } = {}, name = 'hook'): Json => {
  const given = Object.entries<Json | undefined>({ ...good, ...more }).filter(
    (entry): entry is [string, Json] => entry[1] !== undefined,
  );
  return { type: 'Webhook', name, webhook: Object.fromEntries(given) };
};
const rbac = { type: 'RBAC', name: 'rbac' };
const many = (count: number) => Array.from({ length: count }, (_, i) => ({ expression: `request.user != 'u${i}'` }));
const notAName =
  "authorizer name is invalid: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

describe('an AuthorizationConfiguration', () => {
  it.each(['v1', 'v1beta1', 'v1alpha1'])('of version %s has authorizers in their order', (version) => {
    const authorizers = [
      webhook(),
      rbac,
      webhook({}, 'second'),
      ...['Node', 'ABAC', 'AlwaysAllow', 'AlwaysDeny'].map((type) => ({ type, name: type.toLowerCase() })),
    ];
    const found = decode({ ...header, apiVersion: `apiserver.config.k8s.io/${version}`, authorizers });
    expect(found).toMatchObject({ value: { authorizers } });
  });

  it.each<[string, Json]>([
    ['lasting a moment at the longest', webhook({ timeout: '30s' })],
    ['without times to keep answers', webhook({ authorizedTTL: undefined, unauthorizedTTL: '0s' })],
    ['of review version v1beta1', webhook({ subjectAccessReviewVersion: 'v1beta1' })],
    [
      'without conditions and their version',
      webhook({ matchConditions: undefined, matchConditionSubjectAccessReviewVersion: undefined }),
    ],
    ['with 64 conditions', webhook({ matchConditions: many(64) })],
    ['without an opinion on failure', webhook({ failurePolicy: 'NoOpinion' })],
  ])('may have a webhook %s', (_, authorizer) => {
    expect(problems(of(authorizer))).toEqual([]);
  });

  it.each<[string, Json[], string[]]>([
    ['no authorizer', [], ['authorizers: Required value: at least one authorization mode must be defined']],
    ['no type', [{ name: 'a' }], ['authorizers[0].type: Required value']],
    [
      'an unknown type',
      [{ type: 'rbac', name: 'rbac' }],
      [
        'authorizers[0].type: Unsupported value: "rbac": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"',
      ],
    ],
    ['a type twice', [rbac, { type: 'RBAC', name: 'b' }], ['authorizers[1].type: Duplicate value: "RBAC"']],
    ['no name', [{ type: 'RBAC' }], ['authorizers[0].name: Required value']],
    ['a name twice', [webhook(), webhook()], ['authorizers[1].name: Duplicate value: "hook"']],
    ['a name in capitals', [webhook({}, 'Hook')], [`authorizers[0].name: Invalid value: "Hook": ${notAName}`]],
    [
      'RBAC with a webhook',
      [{ ...rbac, webhook: {} }],
      ['authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook'],
    ],
    [
      'Webhook without one',
      [{ type: 'Webhook', name: 'a' }],
      ['authorizers[0].webhook: Required value: required when type=Webhook'],
    ],
    [
      'a webhook without fields',
      [{ type: 'Webhook', name: 'a', webhook: {} }],
      ['timeout', 'subjectAccessReviewVersion', 'failurePolicy', 'connectionInfo.type'].map(
        (field) => `authorizers[0].${field}: Required value`,
      ),
    ],
    ['an unknown field', [webhook({ retries: 3 })], ['unknown field "authorizers[0].webhook.retries"']],
    ['a time that is none', [webhook({ timeout: 'soon' })], ['time: invalid duration "soon"']],
  ])('is refused with %s', (_, authorizers, expected) => {
    expect(problems(of(...authorizers))).toEqual(expected);
  });

  it.each<[string, { readonly [field: string]: Json | undefined }, string]>([
    ['no timeout', { timeout: undefined }, 'timeout: Required value'],
    ['a timeout of 0', { timeout: '0s' }, 'timeout: Required value'],
    ['a timeout over 30s', { timeout: '30001ms' }, 'timeout: Invalid value: "30.001s": must be > 0s and <= 30s'],
    ['a negative timeout', { timeout: '-1s' }, 'timeout: Invalid value: "-1s": must be > 0s and <= 30s'],
    ['a negative authorizedTTL', { authorizedTTL: '-1s' }, 'authorizedTTL: Invalid value: "-1s": must be > 0s'],
    ['a negative unauthorizedTTL', { unauthorizedTTL: '-1m' }, 'unauthorizedTTL: Invalid value: "-1m0s": must be > 0s'],
    ['no version', { subjectAccessReviewVersion: undefined }, 'subjectAccessReviewVersion: Required value'],
    [
      'another version',
      { subjectAccessReviewVersion: 'v2' },
      'subjectAccessReviewVersion: Unsupported value: "v2": supported values: "v1", "v1beta1"',
    ],
    [
      'no version of conditions',
      { matchConditionSubjectAccessReviewVersion: undefined },
      'matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified',
    ],
    [
      'another version of conditions',
      { matchConditionSubjectAccessReviewVersion: 'v1beta1' },
      'matchConditionSubjectAccessReviewVersion: Unsupported value: "v1beta1": supported values: "v1"',
    ],
    ['no failure policy', { failurePolicy: undefined }, 'failurePolicy: Required value'],
    [
      'another failure policy',
      { failurePolicy: 'deny' },
      'failurePolicy: Unsupported value: "deny": supported values: "NoOpinion", "Deny"',
    ],
    ['no connection', { connectionInfo: undefined }, 'connectionInfo.type: Required value'],
    [
      'another connection',
      { connectionInfo: { type: 'Url' } },
      'connectionInfo.type: Unsupported value: {"Type":"Url","KubeConfigFile":null}: supported values: "InClusterConfig", "KubeConfigFile"',
    ],
    ['no file', { connectionInfo: { type: 'KubeConfigFile' } }, 'connectionInfo.kubeConfigFile: Required value'],
    [
      'a relative file',
      { connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: 'x/y' } },
      'connectionInfo.kubeConfigFile: Invalid value: "x/y": must be an absolute path',
    ],
    [
      'a file within the cluster',
      { connectionInfo: { type: 'InClusterConfig', kubeConfigFile: '/x' } },
      'connectionInfo.kubeConfigFile: Invalid value: "/x": can only be set when type=KubeConfigFile',
    ],
    [
      'a webhook within the cluster',
      { connectionInfo: { type: 'InClusterConfig' } },
      'connectionInfo.type: Invalid value: "InClusterConfig": is not for the API server itself: use KubeConfigFile',
    ],
    ['65 conditions', { matchConditions: many(65) }, 'matchConditions: Too many: 65: must have at most 64 items'],
    ['a blank condition', { matchConditions: [{ expression: ' ' }] }, 'matchConditions[0].expression: Required value'],
    [
      'a condition twice',
      { matchConditions: [{ expression: 'true' }, { expression: 'true' }] },
      'matchConditions[1].expression: Duplicate value: "true"',
    ],
    [
      'a condition that is a text',
      { matchConditions: [{ expression: 'request.user' }] },
      'matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool but got string',
    ],
  ])('is refused with a webhook that has %s', (_, more, expected) => {
    expect(problems(of(webhook(more)))).toEqual([`authorizers[0].${expected}`]);
  });

  it('is refused with another kind or version', () => {
    for (const other of [{ kind: 'Other' }, { apiVersion: 'apiserver.config.k8s.io/v2' }, { apiVersion: '' }]) {
      expect(problems(decode({ ...header, ...other, authorizers: [rbac] }))).toEqual([
        expect.stringMatching(/^apiVersion and kind: .* must be one of AuthorizationConfiguration of apiserver/),
      ]);
    }
  });

  it('names all but webhooks after their types', () => {
    expect(misnamed({ authorizers: [{ type: 'Webhook', name: 'x' }, rbac] })).toBeUndefined();
    expect(misnamed({ authorizers: [{ type: 'AlwaysAllow', name: 'x' }] })).toBe(
      'expected name alwaysallow for authorizer AlwaysAllow instead of x',
    );
  });
});
