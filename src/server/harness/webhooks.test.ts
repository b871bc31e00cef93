import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type ApiObject, VirtualClock } from '../../meta/index.ts';
import type { TestServerOptions } from './options.ts';
import { type TestServer, testServer } from './test-server.ts';
import type { WebhookRequest } from './webhooks.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));
async function start(options: TestServerOptions): Promise<TestServer> {
  const server = await testServer(options);
  closing.push(() => server.close());
  return server;
}

// As controller-gen writes them.
const manifests = `---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: mutating-webhook-configuration
webhooks:
- admissionReviewVersions: [v1]
  clientConfig:
    service: {name: webhook-service, namespace: system, path: /mutate-example-com-v1-gadget}
  failurePolicy: Fail
  name: mgadget-v1.kb.io
  rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [gadgets]}]
  sideEffects: None
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: validating-webhook-configuration
webhooks:
- admissionReviewVersions: [v1]
  clientConfig:
    service: {name: webhook-service, namespace: system, path: /validate-example-com-v1-gadget}
  failurePolicy: Fail
  name: vgadget-v1.kb.io
  rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [gadgets]}]
  sideEffects: None
  timeoutSeconds: 1
`;

function folderWith(files: { readonly [name: string]: string }): string {
  const folder = mkdtempSync(join(tmpdir(), 'orch-webhooks-'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

const version = (name: string, storage: boolean) => ({
  name,
  storage,
  served: true,
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
});
const service = { name: 'webhook-service', namespace: 'system', path: '/convert' };
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', kind: 'Gadget' },
    versions: [version('v1', true), version('v2', false)],
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: { service }, conversionReviewVersions: ['v1'] },
    },
  },
} as unknown as ApiObject;

const configurations = { apiVersion: 'admissionregistration.k8s.io/v1', resource: 'mutatingwebhookconfigurations' };
const gadgets = { apiVersion: 'example.com/v1', resource: 'gadgets', namespace: 'default' };
const gadget = (name: string, spec: object = {}) =>
  ({ apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name }, spec }) as ApiObject;

/** The webhooks of gadgets: a colour is set, `size: 0` refused, and version 2 has `length` in place of `size`. */
function answer({ path, review: { request } }: WebhookRequest): object | Promise<object> {
  const {
    object,
    objects = [],
    desiredAPIVersion,
  } = request as unknown as {
    object: { spec: { size?: number; wait?: boolean } };
    objects?: { spec: { size?: number } }[];
    desiredAPIVersion?: string;
  };
  if (path === '/mutate-example-com-v1-gadget') {
    return { allowed: true, patch: [{ op: 'add', path: '/spec/colour', value: 'green' }] };
  }
  if (path === '/validate-example-com-v1-gadget') {
    if (object.spec.wait === true) return new Promise(() => {});
    return { allowed: object.spec.size !== 0, status: { code: 403, message: 'size must not be 0' } };
  }
  const convertedObjects = objects.map((one) => ({
    ...one,
    apiVersion: desiredAPIVersion,
    spec: { length: one.spec.size },
  }));
  return { convertedObjects, result: { status: 'Success' } };
}

/** Steps that succeed wherever the webhooks run. */
async function tryGadgets({ client }: TestServer): Promise<void> {
  expect(await client.create(gadgets, gadget('a', { size: 3 }))).toMatchObject({ spec: { size: 3, colour: 'green' } });
  await expect(client.create(gadgets, gadget('b', { size: 0 }))).rejects.toMatchObject({
    code: 403,
    message: 'admission webhook "vgadget-v1.kb.io" denied the request: size must not be 0',
  });
  const second = { ...gadgets, apiVersion: 'example.com/v2', name: 'a' };
  expect(await client.get(second)).toMatchObject({ apiVersion: 'example.com/v2', spec: { length: 3 } });
}

it('are answered in process, without a socket', async () => {
  const configurations = folderWith({ 'manifests.yaml': manifests, 'service.yaml': 'apiVersion: v1\nkind: Service\n' });
  const server = await start({
    clock: new VirtualClock(),
    definitions: definition,
    objects: gadget('fixture', { size: 0 }),
    webhooks: { configurations, handler: answer },
  });
  expect(server.webhooks).toBeUndefined();
  await tryGadgets(server);
  await expect(server.client.create(gadgets, gadget('c', { wait: true }))).rejects.toMatchObject({
    code: 500,
    message: expect.stringContaining('context deadline exceeded') as string,
  });
});

it('of configurations that are created later are answered too, and a handler that throws has failed', async () => {
  const handler = () => {
    throw new Error('the handler is at a loss');
  };
  const { client } = await start({ definitions: definition, webhooks: { handler } });
  await client.create(gadgets, gadget('a'));
  const [mutating] = manifests.split('\n---\n');
  await client.create(configurations, parse(mutating ?? '') as ApiObject);
  await expect(client.create(gadgets, gadget('b'))).rejects.toThrow('the handler is at a loss');
});

it('are called over TLS, with a certificate that is made for their place', async () => {
  const certDir = folderWith({});
  const configurations = folderWith({ 'manifests.yaml': manifests });
  const server = await start({ definitions: definition, webhooks: { configurations, certDir } });
  const { host = '', port = 0, cert = '', key = '' } = server.webhooks ?? {};
  expect(readFileSync(join(certDir, 'tls.crt'), 'utf8')).toBe(cert);
  expect(readFileSync(join(certDir, 'tls.key'), 'utf8')).toBe(key);
  await expect(server.client.create(gadgets, gadget('a'))).rejects.toThrow('connection refused');
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const review = JSON.parse(await text(request)) as WebhookRequest['review'];
    const path = new URL(request.url ?? '', 'https://localhost').pathname;
    const { patch, ...rest } = (await answer({ path, review })) as { patch?: object };
    const patched =
      patch === undefined
        ? {}
        : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...review, response: { uid: review.request['uid'], ...rest, ...patched } }));
  };
  const hooks = createServer({ cert, key }, (request, response) => void serve(request, response));
  await new Promise<void>((resolve) => hooks.listen(port, host, resolve));
  closing.push(async () => {
    hooks.close();
    hooks.closeAllConnections();
  });
  await tryGadgets(server);
});

it('with options that make no sense are refused', async () => {
  const failure = (webhooks: object) =>
    testServer({ webhooks }).then(
      () => 'started',
      (error: Error) => error.message,
    );
  expect(await failure({ handlr: answer })).toBe('webhooks.handlr is an unknown option; did you mean "handler"?');
  expect(await failure({ handler: answer, port: 1 })).toMatch(/^webhooks\.port is for webhooks over TLS/);
  expect(await failure({ handler: answer, configurations: gadget('a') })).toBe(
    'webhooks.configurations[0]: kind must be MutatingWebhookConfiguration or ValidatingWebhookConfiguration; it is Gadget',
  );
});
