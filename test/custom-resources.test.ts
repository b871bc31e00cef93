import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../src/server/clock.ts';
import { createServer, type OrchServer, openMemoryStore, type Store } from '../src/server/index.ts';

// Custom resources over the whole server: a definition is served as soon as it is made, on every server of the store.

const open: OrchServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function start(settings: object = {}, outside: { readonly store?: Store } = {}) {
  const server = await createServer({ controllers: '-*', apiDomain: 'k8s.io', securePort: 0, ...settings }, outside);
  open.push(server);
  return server;
}

interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought
  readonly body: any;
}

async function send(
  { client }: OrchServer,
  method: string,
  url: string,
  body?: unknown,
  headers: { readonly [name: string]: string } = {},
): Promise<Answer> {
  const response = await client.request({
    method,
    url,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
  });
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  return { status: response.status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : text };
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const gadgets = '/apis/ref.example.com/v1/namespaces/default/gadgets';
const merge = { 'content-type': 'application/merge-patch+json' };
const applied = { 'content-type': 'application/apply-patch+yaml' };
const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };

const schema = (properties: object = {}) => ({
  openAPIV3Schema: {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { size: { type: 'integer' }, color: { type: 'string' }, ...properties } },
    },
  },
});
const version = (name: string, more: object = {}) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: schema(),
  ...more,
});
const definition = (singular = 'gadget', spec: object = {}, names: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${singular}s.ref.example.com` },
  spec: {
    group: 'ref.example.com',
    scope: 'Namespaced',
    names: {
      plural: `${singular}s`,
      singular,
      kind: singular[0]?.toUpperCase() + singular.slice(1),
      shortNames: [singular.slice(0, 3)],
      ...names,
    },
    versions: [
      version('v1', { additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }] }),
    ],
    ...spec,
  },
});
const gadget = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'ref.example.com/v1',
  kind: 'Gadget',
  metadata: { name, ...metadata },
  spec,
});

describe('a custom resource', () => {
  it('is served once its definition is made: objects, lists, tables, discovery', async () => {
    const server = await start();
    expect((await send(server, 'GET', gadgets)).body).toBe('404 page not found\n');
    expect((await send(server, 'POST', definitions, definition())).status).toBe(201);
    const made = await send(server, 'POST', gadgets, gadget('a', { size: 3, unknown: 1 }));
    expect(made).toMatchObject({ status: 201, body: { spec: { size: 3 }, metadata: { generation: 1 } } });
    expect(made.body.spec).toEqual({ size: 3 });
    expect((await send(server, 'GET', `${gadgets}/a`)).body).toEqual(made.body);
    const { columnDefinitions, rows } = (await send(server, 'GET', gadgets, undefined, table)).body;
    expect(columnDefinitions.map(({ name }: { name: string }) => name)).toEqual(['Name', 'Size']);
    expect(rows.map(({ cells }: { cells: unknown[] }) => cells)).toEqual([['a', 3]]);
    const { resources } = (await send(server, 'GET', '/apis/ref.example.com/v1')).body;
    expect(resources).toMatchObject([{ name: 'gadgets', shortNames: ['gad'], kind: 'Gadget' }]);
    const { paths } = (await send(server, 'GET', '/openapi/v3')).body;
    const document = await send(server, 'GET', paths['apis/ref.example.com/v1'].serverRelativeURL);
    expect(document.body.components.schemas['com.example.ref.v1.Gadget']).toMatchObject({
      properties: { spec: { properties: { size: { type: 'integer' } } }, metadata: {} },
      'x-kubernetes-group-version-kind': [{ group: 'ref.example.com', version: 'v1', kind: 'Gadget' }],
    });
    await expect
      .poll(async () => (await send(server, 'GET', `${definitions}/gadgets.ref.example.com`)).body.status.conditions)
      .toMatchObject([
        { type: 'NamesAccepted', status: 'True' },
        { type: 'Established', status: 'True' },
      ]);
  });

  // As the reference server answers.
  it('has a scale that needs no resourceVersion', async () => {
    const server = await start();
    const scaled = version('v1', {
      subresources: { scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
    });
    await send(server, 'POST', definitions, definition('gadget', { versions: [scaled] }));
    await send(server, 'POST', gadgets, gadget('a', { size: 1 }));
    const put = async (metadata: object, spec?: object) => {
      const body = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a', ...metadata }, spec };
      return send(server, 'PUT', `${gadgets}/a/scale`, body);
    };
    expect(await put({}, { replicas: 3 })).toMatchObject({ status: 200, body: { spec: { replicas: 3 } } });
    expect((await send(server, 'GET', `${gadgets}/a`)).body.spec).toEqual({ size: 3 });
    expect((await put({})).body.spec).toEqual({});
    const named = 'gadgets.ref.example.com "a"';
    const refusals = [
      [{ resourceVersion: '1' }, 409, `${named}: the object has been modified`],
      [
        { resourceVersion: '0' },
        422,
        `${named} is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
      ],
      [{ uid: 'x' }, 409, `${named}: StorageError: invalid object, Code: 4, Key: /registry/ref.example.com/gadgets/`],
      [{ name: '' }, 400, 'the name of the object (a based on URL) was undeterminable: name must be provided'],
    ] as const;
    for (const [metadata, code, message] of refusals) {
      const { body } = await put(metadata, { replicas: 2 });
      expect(body).toMatchObject({ code, message: expect.stringContaining(message) });
    }
    expect((await put({}, { replicas: -1 })).body.message).toBe(
      'Gadget.ref.example.com "a" is invalid: .spec.size: Invalid value: -1: should be a non-negative integer',
    );
  });

  // As the reference server answers.
  it('refuses the apply of null to a field that is not nullable, unless the field is an object that is there', async () => {
    const server = await start();
    const { openAPIV3Schema } = schema({ labels: { type: 'object', additionalProperties: { type: 'string' } } });
    const properties = { ...openAPIV3Schema.properties, status: { type: 'object' } };
    const subresources = { status: {} };
    const versions = [version('v1', { schema: { openAPIV3Schema: { ...openAPIV3Schema, properties } }, subresources })];
    await send(server, 'POST', definitions, definition('gadget', { versions }));
    const apply = (spec: object, path = '/a') =>
      send(server, 'PATCH', `${gadgets}${path}?fieldManager=m`, { ...gadget('a', spec), status: null }, applied);
    const refused = await apply({ color: null, labels: null });
    expect(refused.body.details.causes).toMatchObject([
      { field: 'spec.color', message: 'Invalid value: "null": spec.color in body must be of type string: "null"' },
      { field: 'spec.labels', message: 'Invalid value: "null": spec.labels in body must be of type object: "null"' },
    ]);
    await send(server, 'POST', gadgets, gadget('a', { color: null, labels: { a: 'b' } }));
    expect(await apply({ labels: null })).toMatchObject({ status: 200, body: { spec: { labels: { a: 'b' } } } });
    expect((await apply({}, '/a/status')).status).toBe(200);
  });

  it('gets replicas by a patch of its scale that says how many', async () => {
    const server = await start();
    const scaled = version('v1', {
      subresources: { scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
    });
    await send(server, 'POST', definitions, definition('gadget', { versions: [scaled] }));
    await send(server, 'POST', gadgets, gadget('a', {}));
    const patch = (body: object) =>
      send(server, 'PATCH', `${gadgets}/a/scale`, body, { 'content-type': 'application/merge-patch+json' });
    for (const body of [{}, { spec: {} }]) {
      expect(await patch(body)).toMatchObject({
        status: 400,
        body: { message: 'the spec replicas field ".spec.size" cannot be empty' },
      });
    }
    expect((await patch({ spec: { replicas: 0 } })).status).toBe(200);
    expect((await send(server, 'GET', `${gadgets}/a`)).body.spec).toEqual({ size: 0 });
    expect((await patch({})).status).toBe(200);
  });

  it('cannot be created in a namespace that is missing or terminating', async () => {
    const server = await start();
    await send(server, 'POST', definitions, definition());
    const elsewhere = gadgets.replace('default', 'other');
    expect((await send(server, 'POST', elsewhere, gadget('a'))).body).toMatchObject({
      code: 404,
      message: 'namespaces "other" not found',
    });
    await send(server, 'POST', '/api/v1/namespaces', { metadata: { name: 'other', finalizers: ['example.com/hold'] } });
    await send(server, 'DELETE', '/api/v1/namespaces/other');
    expect((await send(server, 'POST', elsewhere, gadget('a'))).body).toMatchObject({ code: 403, reason: 'Forbidden' });
  });

  it('ends the watches of its objects when its definition changes, and shows new defaults to the next ones', async () => {
    const server = await start();
    await send(server, 'POST', definitions, definition());
    await send(server, 'POST', gadgets, gadget('a'));
    const events = async () => {
      const { body } = await server.client.request({ method: 'GET', url: `${gadgets}?watch=true`, headers: {} });
      return body[Symbol.asyncIterator]();
    };
    const first = await events();
    expect(JSON.parse(Buffer.from((await first.next()).value).toString())).toMatchObject({ type: 'ADDED' });
    const next = first.next();
    const versions = [version('v1', { schema: schema({ color: { type: 'string', default: 'red' } }) })];
    const changed = await send(
      server,
      'PATCH',
      `${definitions}/gadgets.ref.example.com`,
      { spec: { versions } },
      merge,
    );
    expect(changed.status).toBe(200);
    expect(await next).toMatchObject({ done: true });
    const second = await events();
    expect(JSON.parse(Buffer.from((await second.next()).value).toString())).toMatchObject({
      type: 'ADDED',
      object: { spec: { color: 'red' } },
    });
    await second.return?.(undefined);
  });

  it('is deleted with its objects, once their finalizers have been removed', async () => {
    const server = await start();
    await send(server, 'POST', definitions, definition());
    await send(server, 'POST', gadgets, gadget('a'));
    await send(server, 'POST', gadgets, gadget('held', {}, { finalizers: ['example.com/hold'] }));
    const path = `${definitions}/gadgets.ref.example.com`;
    await expect.poll(async () => (await send(server, 'GET', path)).body.status.conditions).toHaveLength(2);
    const deleted = await send(server, 'DELETE', path);
    expect(deleted.body.status.conditions.at(-1)).toMatchObject({
      type: 'Terminating',
      reason: 'InstanceDeletionPending',
    });
    expect((await send(server, 'POST', gadgets, gadget('late'))).body).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message:
        'gadgets.ref.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
    });
    await expect
      .poll(async () =>
        (await send(server, 'GET', gadgets)).body.items.map((one: { metadata: { name: string } }) => one.metadata.name),
      )
      .toEqual(['held']);
    await send(server, 'PATCH', `${gadgets}/held`, { metadata: { finalizers: null } }, merge);
    await expect.poll(async () => (await send(server, 'GET', path)).status).toBe(404);
    expect((await send(server, 'GET', gadgets)).body).toBe('404 page not found\n');
  });

  it('with names of another one is not served, and its definition says why', async () => {
    const server = await start();
    await send(server, 'POST', definitions, definition());
    await send(server, 'POST', definitions, definition('widget', {}, { kind: 'Gadget', listKind: 'WidgetList' }));
    expect((await send(server, 'GET', '/apis/ref.example.com/v1/widgets')).status).toBe(404);
    await expect
      .poll(async () => (await send(server, 'GET', `${definitions}/widgets.ref.example.com`)).body.status.conditions)
      .toMatchObject([
        { type: 'NamesAccepted', status: 'False', reason: 'KindConflict', message: '"Gadget" is already in use' },
        { type: 'Established', status: 'False', reason: 'NotAccepted' },
      ]);
  });

  it('may have the plural name of a built-in one', async () => {
    const server = await start();
    await send(server, 'POST', definitions, definition('service'));
    const services = '/apis/ref.example.com/v1/namespaces/default/services';
    const value = { ...gadget('a', { size: 1 }), kind: 'Service' };
    expect((await send(server, 'POST', services, value)).body).toMatchObject({ spec: { size: 1 } });
    expect((await send(server, 'GET', '/api/v1/namespaces/default/services/a')).status).toBe(404);
    await expect.poll(async () => (await send(server, 'GET', '/readyz')).body).toBe('ok');
  });

  it('can own objects of built-in kinds, and is known to access reviews by its name', async () => {
    const server = await start();
    await send(server, 'POST', definitions, definition());
    const { uid } = (await send(server, 'POST', gadgets, gadget('a'))).body.metadata;
    const owner = { apiVersion: 'ref.example.com/v1', kind: 'Gadget', name: 'a', uid, blockOwnerDeletion: true };
    const map = { metadata: { name: 'owned', ownerReferences: [owner] } };
    expect((await send(server, 'POST', '/api/v1/namespaces/default/configmaps', map)).status).toBe(201);
  });
});

describe('custom resources of a store', () => {
  it('are served again after a restart', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), `orch-${randomUUID()}`));
    try {
      const first = await start({ store: 'lmdb', dataDir });
      await send(first, 'POST', definitions, definition());
      const made = await send(first, 'POST', gadgets, gadget('a', { size: 1 }));
      await first.close();
      const second = await start({ store: 'lmdb', dataDir });
      expect((await send(second, 'GET', `${gadgets}/a`)).body).toEqual(made.body);
      await second.close();
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('are served by all its servers, in any storage version', async () => {
    const store = openMemoryStore({ clock: systemClock });
    const [one, two] = [await start({}, { store }), await start({}, { store })];
    await send(one, 'POST', definitions, definition('gadget', { versions: [version('v1'), version('v1beta1')] }));
    await expect.poll(async () => (await send(two, 'GET', gadgets)).status).toBe(200);
    const older = gadgets.replace('v1/', 'v1beta1/');
    const body = { ...gadget('a', { size: 1 }), apiVersion: 'ref.example.com/v1beta1' };
    expect((await send(two, 'POST', older, body)).status).toBe(201);
    expect((await send(one, 'GET', `${gadgets}/a`)).body).toMatchObject(gadget('a', { size: 1 }));
    const versions = [version('v1', { storage: false }), version('v1beta1', { storage: true })];
    await send(one, 'PATCH', `${definitions}/gadgets.ref.example.com`, { spec: { versions } }, merge);
    await send(one, 'PATCH', `${gadgets}/a`, { spec: { size: 2 } }, merge);
    expect((await send(two, 'GET', `${gadgets}/a`)).body).toMatchObject(gadget('a', { size: 2 }));
    expect((await send(two, 'GET', `${older}/a`)).body).toMatchObject({ ...body, spec: { size: 2 } });
    const { status } = (await send(two, 'GET', `${definitions}/gadgets.ref.example.com`)).body;
    expect(status.storedVersions).toEqual(['v1', 'v1beta1']);
  });

  it('have APIServices as long as they are served', async () => {
    const server = await start();
    await send(server, 'POST', definitions, definition());
    const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1.ref.example.com';
    await expect
      .poll(async () => (await send(server, 'GET', path)).body)
      .toMatchObject({
        metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'true' } },
        spec: { group: 'ref.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 },
      });
  });
});
