import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type HookCall, startHook } from '../../../test/support/hook.ts';
import { VirtualClock } from '../../meta/index.ts';
import { until } from '../../meta/testing/until.ts';
import { silentLog } from '../dependencies.ts';
import { createServer, type OrchServer } from '../server.ts';

const folder = mkdtempSync(join(tmpdir(), 'authorization-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const written = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

/** A webhook that answers by the user, and its kubeconfig. */
async function hookOf(name: string, answer: (user: string, call: HookCall) => unknown, user: object = {}) {
  const hook = await startHook((call) => answer((call.review as { spec: { user: string } }).spec.user, call));
  open.push(hook);
  const text = JSON.stringify({
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: `${hook.url}/${name}`, 'certificate-authority-data': hook.caBundle } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
  return { hook, kubeconfig: written(`${name}.kubeconfig`, text) };
}

const allows =
  (...users: readonly string[]) =>
  (user: string) => ({ kind: 'SubjectAccessReview', status: { allowed: users.includes(user) } });

const rbac = { type: 'RBAC', name: 'rbac' };
const webhook = (name: string, kubeConfigFile: string, more: object = {}) => ({
  type: 'Webhook',
  name,
  webhook: {
    timeout: '5s',
    subjectAccessReviewVersion: 'v1',
    failurePolicy: 'NoOpinion',
    matchConditionSubjectAccessReviewVersion: 'v1',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile },
    ...more,
  },
});
const configuration = (...authorizers: readonly object[]): string =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers });

async function serverOf(settings: object, dependencies: object = {}): Promise<OrchServer> {
  const server = await createServer({ apiDomain: 'k8s.io', controllers: '-*', ...settings }, dependencies);
  open.push(server);
  return server;
}
const serverOfFile = (text: string, dependencies: object = {}) =>
  serverOf({ authorizationConfig: written('authorization.json', text) }, dependencies);

async function send(server: OrchServer, user: string, method = 'GET', url = '/api/v1/pods', sent?: object) {
  const { status, headers, body } = await server.client.request({
    method,
    url,
    headers: { 'content-type': 'application/json', ...(user === '' ? {} : { 'impersonate-user': user }) },
    ...(sent === undefined ? {} : { body: Buffer.from(JSON.stringify(sent)) }),
  });
  let text = '';
  for await (const chunk of body) text += Buffer.from(chunk).toString();
  return { status, type: headers['content-type'], text };
}
async function review(server: OrchServer, user: string): Promise<unknown> {
  const spec = { user, resourceAttributes: { verb: 'list', resource: 'pods' } };
  const { text } = await send(server, '', 'POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec });
  return (JSON.parse(text) as { readonly status: unknown }).status;
}
const metric = async (server: OrchServer, name: string) =>
  (await send(server, '', 'GET', '/metrics')).text.split('\n').filter((line) => line.startsWith(`${name}{`));

describe('an authorization webhook', () => {
  it('decides by the flags, in version v1beta1, without query parameters but the timeout', async () => {
    const { hook, kubeconfig } = await hookOf('hook', allows('jane'), { token: 'secret-of-a-webhook' });
    const server = await serverOf({ authorizationMode: 'Webhook,RBAC', authorizationWebhookConfigFile: kubeconfig });
    expect((await send(server, 'jane')).status).toBe(200);
    expect((await send(server, 'joe')).status).toBe(403);
    // Members of system:masters are never sent.
    expect((await send(server, '')).status).toBe(200);
    expect(hook.calls.map(({ review: { apiVersion, spec } }) => [apiVersion, spec.user, spec.group])).toEqual([
      ['authorization.k8s.io/v1beta1', 'jane', ['system:authenticated']],
      ['authorization.k8s.io/v1beta1', 'joe', ['system:authenticated']],
    ]);
    expect(hook.calls[0]).toMatchObject({ url: '/hook?timeout=30s', authorization: 'Bearer secret-of-a-webhook' });
    expect(await metric(server, 'apiserver_authorization_decisions_total')).toEqual([
      'apiserver_authorization_decisions_total{decision="allowed",name="default",type="Webhook"} 1',
    ]);
  });

  it.each<[string, (hook: { readonly url: string }) => unknown, string]>([
    ['is broken', () => undefined, 'Post "URL/hook?timeout=30s": '],
    ['answers junk', () => ({ status: 200, text: 'secret-of-a-webhook junk' }), "couldn't get version/kind"],
    ['refuses', () => ({ status: 403, text: 'secret-of-a-webhook text' }), 'unknown'],
    [
      'is never done',
      () => ({ status: 200, text: ' '.repeat(300_000), endless: true }),
      'the response has more than 262144 bytes',
    ],
    ['is too slow', () => new Promise(() => {}), 'Post "URL/hook?timeout=1s": context deadline exceeded'],
    [
      'redirects',
      () => ({ status: 307, text: '' }),
      'the server responded with the status code 307 but did not return more information',
    ],
  ])('that %s fails the request in plain text, which tells no secret', async (_, answer, why) => {
    const lines: string[] = [];
    const log = { ...silentLog };
    for (const level of ['warn', 'info', 'error'] as const) {
      log[level] = (text: string, fields: object) => void lines.push(text + JSON.stringify(fields));
    }
    const { hook, kubeconfig } = await hookOf('hook', () => answer(hook), { token: 'secret-of-a-webhook' });
    const timeout = /timeout=(\d+s)/.exec(why)?.[1] ?? '30s';
    const server = await serverOfFile(configuration(webhook('hook', kubeconfig, { timeout }), rbac), { log });
    const failed = await send(server, 'jane', 'GET', '/api/v1/pods?a=<b>');
    expect(failed).toMatchObject({ status: 500, type: 'text/plain; charset=utf-8' });
    expect(failed.text).toContain('Internal Server Error: "/api/v1/pods?a=&lt;b&gt;": ');
    expect(failed.text).toContain(why.replace('URL', hook.url));
    expect(await review(server, 'jane')).toMatchObject({ allowed: false, evaluationError: expect.any(String) });
    // Later authorizers are asked.
    expect((await send(server, 'jane', 'GET', '/version')).status).toBe(200);
    const told = [failed.text, ...lines, (await send(server, '', 'GET', '/metrics')).text].join('\n');
    expect(told).toContain('authorization failed');
    expect(told).not.toContain('secret-of-a-webhook');
  });

  it('that fails under the policy Deny is the last one asked', async () => {
    const { kubeconfig } = await hookOf('hook', () => ({ status: 500, text: 'x' }));
    const strict = webhook('hook', kubeconfig, {
      failurePolicy: 'Deny',
      matchConditions: [{ expression: 'request.resourceAttributes.verb != ""' }],
    });
    const server = await serverOfFile(configuration(strict, rbac));
    expect(await send(server, 'jane', 'GET', '/version')).toMatchObject({
      status: 500,
      text: expect.stringContaining('no such key: resourceAttributes'),
    });
    expect(await metric(server, 'apiserver_authorization_match_condition_evaluation_errors_total')).toEqual([
      'apiserver_authorization_match_condition_evaluation_errors_total{name="hook",type="Webhook"} 1',
    ]);
  });
});

describe('a configuration of authorizers', () => {
  it('is read again every minute; a bad one leaves the one before in use', async () => {
    const clock = new VirtualClock();
    const first = await hookOf('first', allows('jane'));
    const second = await hookOf('second', allows('joe'));
    const using = webhook('first', first.kubeconfig);
    const server = await serverOfFile(configuration(using, rbac), { clock });
    const write = async (text: string, status: 'success' | 'failure', count: number) => {
      written('authorization.json', text);
      await until(async () => {
        await clock.advance(60_000, async () => {
          for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
        });
        const lines = await metric(server, 'apiserver_authorization_config_controller_automatic_reloads_total');
        const found = lines.find((line) => line.includes(`status="${status}"`))?.split(' ')[1] ?? '0';
        expect(Number(found)).toBeGreaterThanOrEqual(count);
      });
    };
    const who = async () =>
      (await Promise.all(['jane', 'joe'].map(async (user) => [user, (await send(server, user)).status] as const)))
        .filter(([, status]) => status === 200)
        .map(([user]) => user);
    expect(await who()).toEqual(['jane']);
    await write(configuration(webhook('second', second.kubeconfig), rbac), 'success', 1);
    expect(await who()).toEqual(['joe']);
    const bad = [
      ...['{', configuration(webhook('first', '/nowhere'), rbac), configuration(using)],
      configuration(using, rbac, { type: 'Node', name: 'node' }),
    ];
    let failures = 0;
    for (const text of bad) {
      const lines = await metric(server, 'apiserver_authorization_config_controller_automatic_reloads_total');
      failures = Number(lines.find((line) => line.includes('failure'))?.split(' ')[1] ?? 0);
      await write(text, 'failure', failures + 1);
      expect(await who()).toEqual(['joe']);
    }
    await write(configuration(rbac, using), 'success', 2);
    expect(await who()).toEqual(['jane']);
  });

  const anyHook = webhook('hook', '/nowhere/hook.kubeconfig');
  const kubeconfigOf = (server: string) =>
    written(
      'bad.kubeconfig',
      JSON.stringify({
        kind: 'Config',
        clusters: [{ name: 'c', cluster: { server } }],
        contexts: [{ name: 'x', context: { cluster: 'c' } }],
        'current-context': 'x',
      }),
    );

  it.each<[string, string, string]>([
    ['an empty file', '', 'authorizers: Required value: at least one authorization mode must be defined'],
    ['no YAML', '{[', '--authorization-config='],
    [
      'an unknown field',
      '{"apiVersion":"apiserver.config.k8s.io/v1","kind":"AuthorizationConfiguration","more":1}',
      'failed to load AuthorizationConfiguration from file: strict decoding error: unknown field "more"',
    ],
    [
      'an absent kubeconfig',
      configuration(anyHook),
      'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "/nowhere/hook.kubeconfig": error loading file',
    ],
    [
      'a folder as kubeconfig',
      configuration(webhook('hook', tmpdir())),
      `Invalid value: "${tmpdir()}": must be a regular file`,
    ],
    [
      'another name',
      configuration({ ...rbac, name: 'roles' }),
      'expected name rbac for authorizer RBAC instead of roles',
    ],
    [
      'two faults',
      configuration(rbac, {}, rbac),
      '[authorizers[1].type: Required value, authorizers[2].type: Duplicate value: "RBAC"]',
    ],
  ])('does not start with %s', async (_, text, why) => {
    await expect(serverOfFile(text)).rejects.toThrow(why);
  });

  it.each([
    ['http://127.0.0.1/x', 'server must be a URL with https'],
    ['https://127.0.0.1/x?a=b', 'server must be a URL without parameters'],
  ])('does not start with a webhook at %s', async (url, why) => {
    await expect(serverOfFile(configuration(webhook('hook', kubeconfigOf(url)), rbac))).rejects.toThrow(why);
  });

  it.each<[string, object]>([
    ['--authorization-mode', { authorizationMode: 'RBAC' }],
    ['the webhook of the flags', { authorizationWebhookConfigFile: '/x' }],
    ['its version, be it the default', { authorizationWebhookVersion: 'v1beta1' }],
    ['a time to keep what it allowed', { authorizationWebhookCacheAuthorizedTtl: '5m' }],
    ['a time to keep what it did not allow', { authorizationWebhookCacheUnauthorizedTtl: '0' }],
  ])('excludes %s', async (_, settings) => {
    const authorizationConfig = written('authorization.json', configuration(rbac));
    await expect(serverOf({ ...settings, authorizationConfig })).rejects.toThrow(
      '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined',
    );
  });

  it('with AlwaysAllow does not allow who has no credentials', async () => {
    const server = await serverOfFile(configuration({ type: 'AlwaysAllow', name: 'alwaysallow' }));
    expect((await send(server, 'jane')).status).toBe(200);
    expect((await send(server, 'system:anonymous')).status).toBe(403);
  });
});

describe('the flags of authorization', () => {
  it.each<[object, string]>([
    [{ authorizationMode: 'Webhook' }, "authorization-mode Webhook's authorization config file not passed"],
    [{ authorizationMode: 'ABAC' }, "authorization-mode ABAC's authorization policy file not passed"],
    [
      { authorizationMode: 'ABAC,Webhook' },
      "[authorization-mode ABAC's authorization policy file not passed, authorization-mode Webhook's authorization config file not passed]",
    ],
    [{ authorizationPolicyFile: '/x' }, 'cannot specify --authorization-policy-file without mode ABAC'],
    [
      { authorizationWebhookConfigFile: '/x' },
      'cannot specify --authorization-webhook-config-file without mode Webhook',
    ],
    [
      { authorizationMode: 'Webhook', authorizationWebhookConfigFile: '/x', authorizationWebhookVersion: 'v2' },
      'unsupported webhook authorizer version "v2", supported versions are "v1", "v1beta1"',
    ],
    [
      { authorizationMode: 'Webhook', authorizationWebhookConfigFile: '/nowhere' },
      '--authorization-webhook-config-file="/nowhere" cannot be read',
    ],
  ])('are refused: %j', async (settings, why) => {
    await expect(serverOf(settings)).rejects.toThrow(why);
  });

  it('may have times and a version without the mode Webhook', async () => {
    const server = await serverOf({ authorizationWebhookCacheAuthorizedTtl: '-1s', authorizationWebhookVersion: 'v7' });
    expect((await send(server, '')).status).toBe(200);
  });
});
