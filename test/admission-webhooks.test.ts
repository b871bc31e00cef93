import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../src/server/clock.ts';
import { createServer, openMemoryStore, type ServerOptions } from '../src/server/index.ts';
import { type Hook, type HookCall, startHook } from './support/hook.ts';

// Admission webhooks of a server, over TLS.

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought
  readonly body: any;
}
type Send = (method: string, url: string, body?: unknown, type?: string) => Promise<Answer>;

async function start(
  settings: ServerOptions = {},
  dependencies: Parameters<typeof createServer>[1] = {},
): Promise<Send> {
  const server = await createServer({ apiDomain: 'k8s.io', securePort: 0, ...settings }, dependencies);
  open.push(server);
  // Its controllers write config maps too.
  await server.settled();
  return async (method, url, body, type = 'application/json') => {
    const given = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) };
    const headers: { [name: string]: string } = body === undefined ? {} : { 'content-type': type };
    const response = await server.client.request({ method, url, headers, ...given });
    const pieces: Uint8Array[] = [];
    for await (const piece of response.body) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  };
}

/** A webhook whose response to a request is that of `answer`. */
async function hookOf(answer: (request: HookCall['review']) => object = () => ({ allowed: true })): Promise<Hook> {
  const hook = await startHook(({ review }) => ({
    apiVersion: review.apiVersion,
    kind: 'AdmissionReview',
    response: { uid: review.request.uid, ...answer(review.request) },
  }));
  open.push(hook);
  return hook;
}

const base = '/apis/admissionregistration.k8s.io/v1';
const validating = `${base}/validatingwebhookconfigurations`;
const mutating = `${base}/mutatingwebhookconfigurations`;
const notes = '/api/v1/namespaces/default/configmaps';
const note = (name: string) => ({ metadata: { name }, data: { a: '1' } });

const configuration = (kind: string, { url, caBundle }: Hook, resources = ['configmaps'], part: object = {}) => ({
  kind,
  apiVersion: 'admissionregistration.k8s.io/v1',
  metadata: { name: 'c' },
  webhooks: [
    {
      name: 'w.example.com',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources }],
      // The server keeps a config map of its own in another one.
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
      clientConfig: { url, caBundle },
      ...part,
    },
  ],
});
const patches = (...operations: object[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

describe('a configuration', () => {
  it('takes effect for the next request, and so does its change and its deletion', async () => {
    const send = await start();
    const hook = await hookOf(() => ({ allowed: false, status: { message: 'no' } }));
    expect((await send('POST', notes, note('a'))).status).toBe(201);
    expect((await send('POST', validating, configuration('ValidatingWebhookConfiguration', hook))).status).toBe(201);
    expect((await send('POST', notes, note('b'))).body.message).toBe(
      'admission webhook "w.example.com" denied the request: no',
    );
    const rules = [{ op: 'replace', path: '/webhooks/0/rules/0/operations', value: ['UPDATE'] }];
    await send('PATCH', `${validating}/c`, rules, 'application/json-patch+json');
    expect((await send('POST', notes, note('b'))).status).toBe(201);
    expect((await send('PUT', `${notes}/b`, note('b'))).status).toBe(400);
    await send('DELETE', `${validating}/c`);
    expect((await send('PUT', `${notes}/b`, note('b'))).status).toBe(200);
    expect(hook.calls.length).toBe(2);
  });

  it('takes effect on the other servers of the store', async () => {
    const store = openMemoryStore({ clock: systemClock });
    const [one, other] = [await start({}, { store }), await start({}, { store })];
    const hook = await hookOf(() => ({ allowed: false }));
    expect((await other('POST', `${notes}?dryRun=All`, note('a'))).status).toBe(201);
    await one('POST', validating, configuration('ValidatingWebhookConfiguration', hook));
    await expect.poll(async () => (await other('POST', `${notes}?dryRun=All`, note('a'))).status).toBe(400);
  });

  it('of a plugin that is switched off has none', async () => {
    const send = await start({ disableAdmissionPlugins: ['ValidatingAdmissionWebhook'] });
    const hook = await hookOf(() => ({ allowed: false }));
    await send('POST', validating, configuration('ValidatingWebhookConfiguration', hook));
    expect((await send('POST', notes, note('a'))).status).toBe(201);
    expect(hook.calls).toEqual([]);
  });
});

describe('calls', () => {
  it('reuse a connection', async () => {
    const send = await start();
    const hook = await hookOf();
    await send('POST', validating, configuration('ValidatingWebhookConfiguration', hook));
    for (let i = 0; i < 5; i++) expect((await send('POST', notes, note(`n${i}`))).status).toBe(201);
    expect([hook.calls.length, hook.connections()]).toEqual([5, 1]);
  });

  it('are counted', async () => {
    const send = await start();
    const hook = await hookOf(({ name }) => ({ allowed: name !== 'b', status: { code: 410 } }));
    await send('POST', validating, configuration('ValidatingWebhookConfiguration', hook));
    for (const name of ['a', 'b']) await send('POST', notes, note(name));
    const labels = 'name="w.example.com",operation="CREATE"';
    const { body } = await send('GET', '/metrics');
    for (const line of [
      `apiserver_admission_webhook_request_total{code="200",${labels},rejected="false",type="validating"} 1`,
      `apiserver_admission_webhook_request_total{code="410",${labels},rejected="true",type="validating"} 1`,
      `apiserver_admission_webhook_rejection_count{error_type="no_error",${labels},rejection_code="410",type="validating"} 1`,
      `apiserver_admission_webhook_admission_duration_seconds_count{${labels},rejected="true",type="validating"} 1`,
    ]) {
      expect(body).toContain(`${line}\n`);
    }
  });

  it('are made again for an attempt after a conflict with another writer', async () => {
    const send = await start();
    let interfere = true;
    const hook = await hookOf(() => ({ allowed: true }));
    await send('POST', notes, note('a'));
    const merge = 'application/merge-patch+json';
    const during = await startHook(async ({ review }) => {
      if (interfere) {
        interfere = false;
        await send('PATCH', `${notes}/a`, { data: { b: '2' } }, merge);
      }
      return {
        apiVersion: review.apiVersion,
        kind: 'AdmissionReview',
        response: { uid: review.request.uid, allowed: true },
      };
    });
    open.push(during);
    await send('POST', validating, configuration('ValidatingWebhookConfiguration', during));
    expect((await send('PATCH', `${notes}/a`, { data: { c: '3' } }, merge)).body.data).toEqual({
      a: '1',
      b: '2',
      c: '3',
    });
    expect(during.calls.map(({ review }) => review.request.oldObject.data)).toEqual([
      { a: '1' },
      { a: '1' },
      { a: '1', b: '2' },
    ]);
    expect(hook.calls).toEqual([]);
  });
});

it('a webhook that fails is a warning of the log and no internal error, once for all requests', async () => {
  const lines: unknown[] = [];
  const line = (level: string) => (text: string, fields: object) => {
    if ('webhook' in fields || level === 'error') lines.push([level, text, fields]);
  };
  const log = { error: line('error'), warn: line('warn'), info: line('info') };
  const send = await start({}, { log });
  const hook = await startHook(() => ({ status: 500, type: 'text/plain', text: 'broken' }));
  open.push(hook);
  await send('POST', validating, configuration('ValidatingWebhookConfiguration', hook));
  const why =
    'failed calling webhook "w.example.com": failed to call webhook: an error on the server ("broken") has prevented the request from succeeding';
  for (const name of ['a', 'b']) {
    expect((await send('POST', notes, note(name))).body).toMatchObject({
      code: 500,
      message: `Internal error occurred: ${why}`,
    });
  }
  expect(lines).toEqual([
    ['warn', 'an admission webhook has failed', { configuration: 'c', webhook: 'w.example.com', why }],
  ]);
});

describe('a mutation', () => {
  it('is completed by the defaults of the kind, and belongs to no field manager', async () => {
    const send = await start();
    const hook = await hookOf(() =>
      patches({ op: 'add', path: '/spec/template/spec/containers/-', value: { name: 'side', image: 'side:1' } }),
    );
    await send('POST', mutating, configuration('MutatingWebhookConfiguration', hook, ['deployments']));
    const made = await send('POST', '/apis/apps/v1/namespaces/default/deployments?fieldManager=me', {
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } },
      },
    });
    expect(made.body.spec.template.spec.containers[1]).toMatchObject({
      name: 'side',
      imagePullPolicy: 'IfNotPresent',
      terminationMessagePath: '/dev/termination-log',
    });
    expect(JSON.stringify(made.body.metadata.managedFields)).not.toContain('side');
  });

  it('is validated, and cannot reach the status', async () => {
    const send = await start();
    let operations: object[] = [{ op: 'add', path: '/status', value: { replicas: 7 } }];
    const hook = await hookOf(() => patches(...operations));
    await send('POST', mutating, configuration('MutatingWebhookConfiguration', hook, ['replicasets']));
    const set = {
      metadata: { name: 'r' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } },
      },
    };
    const sets = '/apis/apps/v1/namespaces/default/replicasets';
    expect((await send('POST', sets, set)).body.status).toEqual({ replicas: 0 });
    operations = [{ op: 'replace', path: '/spec/replicas', value: -1 }];
    const refused = await send('PUT', `${sets}/r`, set);
    expect([refused.status, refused.body.details.causes[0].field]).toEqual([422, 'spec.replicas']);
  });
});

it('a webhook of a connection gets its options', async () => {
  const send = await start();
  const hook = await hookOf(() => ({ allowed: false, status: { message: 'no shells' } }));
  await send('POST', validating, configuration('ValidatingWebhookConfiguration', hook, ['pods/exec']));
  const refused = await send('POST', '/api/v1/namespaces/default/pods/p/exec?command=sh&stdout=true');
  expect(refused.body.message).toBe('admission webhook "w.example.com" denied the request: no shells');
  expect(hook.calls[0]?.review.request).toMatchObject({
    operation: 'CONNECT',
    name: 'p',
    namespace: 'default',
    subResource: 'exec',
    kind: { group: '', version: 'v1', kind: 'PodExecOptions' },
    object: { kind: 'PodExecOptions', apiVersion: 'v1', command: ['sh'], stdout: true },
    options: null,
  });
});

it('an access review is a request, too', async () => {
  const send = await start();
  const hook = await hookOf();
  await send('POST', validating, configuration('ValidatingWebhookConfiguration', hook, ['selfsubjectreviews']));
  expect((await send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {})).status).toBe(201);
  expect(hook.calls[0]?.review.request).toMatchObject({ operation: 'CREATE', kind: { kind: 'SelfSubjectReview' } });
});
