import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createWebhook, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient, httpsTransport } from '../../client/index.ts';
import type { JsonObject } from '../../meta/index.ts';
import { issueCertificate } from '../../pki/index.ts';
import { createServer, type OrchServer } from '../server.ts';
import type { ServerOptions } from '../settings/server-options.ts';

let folder: string;
let servers: OrchServer[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-'));
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(options: ServerOptions): Promise<OrchServer> {
  const server = await createServer({ controllers: '-*', securePort: 0, apiDomain: 'k8s.io', ...options });
  servers.push(server);
  return server;
}

/** A file in the folder of the test. */
function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const eventsIn = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as JsonObject);
const requestsOf = (events: readonly JsonObject[]) =>
  events.map(({ level, stage, verb, objectRef = {} }) => {
    const { resource, name } = objectRef as JsonObject;
    return [level, stage, verb, resource, name].map((part) => (typeof part === 'string' ? part : '')).join(' ');
  });

/** A client with the credentials of a kubeconfig. */
function clientOf(url: string, kubeconfig: string) {
  const pem = (field: string) =>
    Buffer.from(new RegExp(`${field}-data: (.*)`).exec(kubeconfig)?.[1] ?? '', 'base64').toString();
  const certificate = { cert: pem('client-certificate'), key: pem('client-key') };
  return createClient({ transport: httpsTransport({ server: url, ca: pem('certificate-authority'), certificate }) });
}

const secrets = { apiVersion: 'v1', resource: 'secrets', namespace: 'default' };
const secret = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData: { password: 'hunter2' },
});

describe('a server with --audit-policy-file and --audit-log-path', () => {
  it('has written every event to the log when it is closed', async () => {
    const log = join(folder, 'logs', 'audit.log');
    const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, namespaces: [default], resources: [{resources: [secrets]}]}
- {level: Request, namespaces: [default], verbs: [delete]}
`;
    const server = await start({ auditPolicyFile: file('policy.yaml', policy), auditLogPath: log });
    const { url, kubeconfig } = await server.listen();
    const client = clientOf(url, kubeconfig);
    for (let i = 0; i < 50; i++) await client.create(secrets, secret(`s${i}`));
    const watch = await client.watch(secrets);
    const seen: unknown[] = [];
    const follow = async () => {
      for await (const { type } of watch) seen.push(type);
    };
    await Promise.all([server.close(), follow()]);
    const events = eventsIn(log).filter(({ verb }) => verb !== 'get');
    expect(requestsOf(events)).toEqual([
      ...Array.from({ length: 50 }, (_, i) => `Metadata ResponseComplete create secrets s${i}`),
      'Metadata ResponseStarted watch secrets ',
      'Metadata ResponseComplete watch secrets ',
    ]);
    expect(readFileSync(log, 'utf8')).not.toContain('hunter2');
  });

  it('shows its counts as metrics', async () => {
    const policy = 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None, verbs: [get]}, {level: Metadata}]';
    const server = await start({
      auditPolicyFile: file('policy.yaml', policy),
      auditLogPath: join(folder, 'audit.log'),
    });
    const { client } = server;
    await client.list(secrets);
    const { body } = await server.handler({
      method: 'GET',
      url: '/metrics',
      headers: {},
      peer: { address: '', network: '', certificate: { commonName: 'admin', organizations: ['system:masters'] } },
      body: async () => new Uint8Array(),
      stream: () => undefined,
      upgrades: false,
      signal: new AbortController().signal,
    } as never);
    let text = '';
    for await (const piece of body as AsyncIterable<string>) text += piece;
    const metric = (name: string) => Number(new RegExp(`^apiserver_audit_${name} (\\d+)$`, 'm').exec(text)?.[1]);
    expect(metric('event_total')).toBeGreaterThan(1);
    expect(metric('requests_rejected_total')).toBe(0);
    expect(text).toMatch(/^apiserver_audit_level_total\{level="Metadata"\} \d+$/m);
    expect(text).toMatch(/^apiserver_audit_level_total\{level="None"\} \d+$/m);
  });

  it.each<[string, (path: (name: string, text: string) => string) => ServerOptions, string]>([
    [
      'a policy that is wrong',
      (path) => ({ auditPolicyFile: path('p', 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: All\n') }),
      'line 4: rules[0].level: "All" must be one of None, Metadata, Request, RequestResponse',
    ],
    ['a policy that is missing', () => ({ auditPolicyFile: '/absent/policy' }), 'there is no such file'],
    [
      'a log that cannot be written',
      (path) => ({ auditLogPath: join(path('taken', ''), 'audit.log') }),
      'cannot be opened: ',
    ],
    [
      'a batch smaller than an event',
      () => ({ auditLogPath: '-', auditLogTruncateEnabled: true, auditLogTruncateMaxBatchSize: 5 }),
      '--audit-log-truncate-max-batch-size must not be less than --audit-log-truncate-max-event-size',
    ],
    [
      'a kubeconfig without a cluster',
      (path) => ({ auditWebhookConfigFile: path('k', 'kind: Config\n') }),
      'must have a current-context with a cluster',
    ],
  ])('does not start with %s', async (_, options, message) => {
    await expect(start(options(file))).rejects.toThrow(message);
  });
});

describe('the annotations of admission', () => {
  it('tell of violations of the audit level of a namespace', async () => {
    const log = join(folder, 'audit.log');
    const server = await start({ auditLogPath: log });
    const { client } = server;
    const labels = { 'pod-security.kubernetes.io/audit': 'baseline' };
    const namespaces = { apiVersion: 'v1', resource: 'namespaces' };
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', labels } });
    const pods = { apiVersion: 'v1', resource: 'pods', namespace: 'n' };
    const spec = { hostNetwork: true, containers: [{ name: 'c', image: 'i' }] };
    await client.create(
      { apiVersion: 'v1', resource: 'serviceaccounts', namespace: 'n' },
      {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'default' },
      },
    );
    await client.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec });
    await server.close();
    const found = eventsIn(log).find(({ objectRef }) => (objectRef as JsonObject | undefined)?.['resource'] === 'pods');
    expect(found?.['annotations']).toMatchObject({
      'pod-security.kubernetes.io/enforce-policy': 'privileged:latest',
      'pod-security.kubernetes.io/audit-violations':
        'would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
    });
  });
});

describe('the default policy', () => {
  it('records the metadata of secrets and the objects of other writes', async () => {
    const log = join(folder, 'audit.log');
    const server = await start({ auditLogPath: log });
    await server.client.create(secrets, secret('s'));
    const accounts = { apiVersion: 'v1', resource: 'serviceaccounts', namespace: 'default' };
    await server.client.create(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } });
    await server.close();
    const events = eventsIn(log).filter(
      ({ objectRef }) => (objectRef as JsonObject | undefined)?.['namespace'] === 'default',
    );
    expect(requestsOf(events).filter((one) => /secrets s|serviceaccounts a/.test(one))).toEqual([
      'Metadata ResponseComplete create secrets s',
      'Request ResponseComplete create serviceaccounts a',
    ]);
    expect(readFileSync(log, 'utf8')).not.toContain('hunter2');
  });
});

describe('a server with --audit-webhook-config-file', () => {
  const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
  const authority = { ...issueCertificate({ commonName: 'ca', usage: 'authority', ...times }), name: 'ca' };
  const serving = issueCertificate({ commonName: 'hook', usage: 'server', hosts: ['127.0.0.1'], ...times }, authority);
  const client = issueCertificate({ commonName: 'audit-client', usage: 'client', ...times }, authority);

  let webhook: Server;
  let calls: { readonly url: string | undefined; readonly client: string; readonly token: string | undefined }[];
  let received: JsonObject[];
  /** The status codes of the next responses; 200 follows. */
  let statuses: number[];
  beforeEach(async () => {
    [calls, received, statuses] = [[], [], []];
    const tls = {
      cert: serving.cert,
      key: serving.key,
      ca: authority.cert,
      requestCert: true,
      rejectUnauthorized: false,
    };
    webhook = createWebhook(tls, (request, response) => {
      const peer = (request.socket as TLSSocket).getPeerCertificate();
      const { url, headers } = request;
      calls.push({ url, client: String(peer.subject?.CN), token: headers.authorization });
      void buffer(request).then((body) => {
        const status = statuses.shift() ?? 200;
        response.writeHead(status, { location: '/elsewhere' }).end();
        const { items } = JSON.parse(body.toString()) as { items: JsonObject[] };
        if (status === 200) received.push(...items);
      });
    });
    await new Promise<void>((done) => webhook.listen(0, '127.0.0.1', done));
  });
  afterEach(async () => {
    webhook.closeAllConnections();
    await new Promise((done) => webhook.close(done));
  });

  function kubeconfig(user: string): string {
    const { port } = webhook.address() as AddressInfo;
    file('ca.crt', authority.cert);
    return file(
      'hook.kubeconfig',
      `kind: Config
current-context: c
contexts: [{name: c, context: {cluster: hook, user: u}}]
clusters: [{name: hook, cluster: {server: "https://127.0.0.1:${port}/events?timeout=30s", certificate-authority: ca.crt}}]
users: [{name: u, user: ${user}}]
`,
    );
  }
  const policyFile = () =>
    file(
      'policy.yaml',
      `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata, verbs: [create], namespaces: [default], resources: [{resources: [secrets]}]}]
`,
    );
  const names = () => received.map(({ objectRef }) => (objectRef as { name: string }).name).sort();

  it('sends what it has when it is closed, with its client certificate', async () => {
    const data = (pem: string) => Buffer.from(pem).toString('base64');
    const user = `{client-certificate-data: ${data(client.cert)}, client-key-data: ${data(client.key)}}`;
    const server = await start({ auditPolicyFile: policyFile(), auditWebhookConfigFile: kubeconfig(user) });
    for (const name of ['a', 'b', 'c']) await server.client.create(secrets, secret(name));
    expect(calls).toEqual([]);
    await server.close();
    expect(calls).toEqual([{ url: '/events?timeout=30s', client: 'audit-client', token: undefined }]);
    expect(names()).toEqual(['a', 'b', 'c']);
    expect(received[0]).toMatchObject({
      level: 'Metadata',
      stage: 'ResponseComplete',
      user: { username: 'kubernetes-admin' },
    });
  });

  it('repeats a request that fails, also one that is redirected, and shows the token of its file', async () => {
    statuses = [503, 307];
    file('token', 'secret-token\n');
    const server = await start({
      auditPolicyFile: policyFile(),
      auditWebhookConfigFile: kubeconfig('{tokenFile: token}'),
      auditWebhookBatchMaxSize: 1,
      auditWebhookInitialBackoff: 1,
    });
    await server.client.create(secrets, secret('a'));
    await expect.poll(names).toEqual(['a']);
    expect(calls.map(({ url, token }) => [url, token])).toEqual(
      Array.from({ length: 3 }, () => ['/events?timeout=30s', 'Bearer secret-token']),
    );
  });

  it('serves while its webhook does not answer', async () => {
    const open = kubeconfig('{}');
    webhook.removeAllListeners('request');
    const server = await start({
      auditPolicyFile: policyFile(),
      auditWebhookConfigFile: open,
      auditWebhookBatchMaxSize: 1,
      shutdownGracePeriod: 1,
    });
    for (let i = 0; i < 20; i++) await server.client.create(secrets, secret(`s${i}`));
    await server.close();
    expect(received).toEqual([]);
  });
});
