import { afterEach, describe, expect, it } from 'vitest';
import { issueCertificate } from '../src/pki/index.ts';
import { systemClock } from '../src/server/clock.ts';
import { createServer, type OrchServer, openMemoryStore, type Store } from '../src/server/index.ts';

// Definitions that are not valid, or were valid when they were stored. Answers are those of the reference server.

const open: OrchServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function start(store: Store = openMemoryStore({ clock: systemClock })) {
  const server = await createServer({ controllers: '-*', apiDomain: 'k8s.io', securePort: 0 }, { store });
  open.push(server);
  return { store, send: sender(server) };
}

const sender =
  ({ client }: OrchServer) =>
  async (method: string, url: string, body?: unknown) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await client.request({
      method,
      url,
      headers: { 'content-type': type },
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
    });
    const pieces: Uint8Array[] = [];
    for await (const piece of response.body) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  };

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const own = `${definitions}/gadgets.ref.example.com`;
const gadgets = '/apis/ref.example.com/v1/namespaces/default/gadgets';
const base64 = (text: string) => Buffer.from(text).toString('base64');

const webhook = (caBundle?: string) => ({
  strategy: 'Webhook',
  webhook: { clientConfig: { url: 'https://127.0.0.1/', caBundle }, conversionReviewVersions: ['v1'] },
});
const definition = (spec: object = {}, pattern = 'x') => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.ref.example.com' },
  spec: {
    group: 'ref.example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', kind: 'Gadget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', pattern } } } },
      },
    ],
    ...spec,
  },
});

type Send = ReturnType<typeof sender>;
const established = async (send: Send) => {
  const { conditions } = (await send('GET', own)).body.status;
  return conditions?.map(({ type, status, reason }: { [field: string]: string }) => [type, status, reason]);
};
const accepted = ['NamesAccepted', 'True', 'NoConflicts'];
const yes = [accepted, ['Established', 'True', 'InitialNamesAccepted']];
const no = [accepted, ['Established', 'False', 'InvalidCABundle']];
const isUnder = (send: Send, expected: unknown) => expect.poll(() => established(send)).toEqual(expected);

describe('the CA bundle of a conversion webhook', () => {
  const text = base64('nonsense');
  const message = `CustomResourceDefinition.apiextensions.k8s.io "gadgets.ref.example.com" is invalid: spec.conversion.webhookClientConfig.caBundle: Invalid value: "${text}": unable to load root certificates: unable to parse bytes as PEM block`;

  it('does not become invalid', async () => {
    const { send } = await start();
    await send('POST', definitions, definition());
    await isUnder(send, yes);
    const refused = await send('PATCH', own, { spec: { conversion: webhook(text) } });
    expect(refused).toMatchObject({ status: 422, body: { message } });
    expect((await send('PATCH', own, { spec: { conversion: webhook() } })).status).toBe(200);
    expect(await send('PATCH', own, { spec: { conversion: webhook(text) } })).toMatchObject({ status: 422 });
  });

  it('that is invalid keeps a new definition from being established, until it is valid', async () => {
    const { send } = await start();
    expect((await send('POST', definitions, definition({ conversion: webhook(text) }))).status).toBe(201);
    await isUnder(send, no);
    expect((await send('GET', gadgets)).status).toBe(404);
    expect((await send('GET', '/apis/ref.example.com/v1')).status).toBe(404);
    expect((await send('PATCH', own, { metadata: { labels: { a: 'b' } } })).status).toBe(200);
    expect((await send('PATCH', own, { spec: { conversion: webhook(base64('more')) } })).status).toBe(200);
    await isUnder(send, no);
    expect((await send('PATCH', own, { spec: { conversion: { strategy: 'None', webhook: null } } })).status).toBe(200);
    await isUnder(send, yes);
    expect((await send('GET', gadgets)).status).toBe(200);
  });
});

describe('a definition that was stored with what is invalid now', () => {
  /** The definition with text in place of another one, as an earlier release has stored it. */
  async function stored(before: string, after: string, spec: object = {}) {
    const first = await start();
    await first.send('POST', definitions, definition(spec, before));
    await isUnder(first.send, yes);
    const { store } = first;
    const { entries } = await store.list({ prefix: '/', limit: 1_000 });
    for (const { key, value } of entries) {
      if (!key.includes('gadgets.ref.example.com')) continue;
      await store.commit([], [{ key, value: Buffer.from(Buffer.from(value).toString().replaceAll(before, after)) }]);
    }
    return (await start(store)).send;
  }

  it('is served; no change of it is accepted, but its deletion', async () => {
    const send = await stored('before', '(');
    expect((await send('GET', own)).body.spec.versions[0].schema.openAPIV3Schema.properties.a.pattern).toBe('(');
    expect((await send('GET', gadgets)).status).toBe(200);
    const refused = await send('PATCH', own, { metadata: { labels: { a: 'b' } } });
    expect(refused.status).toBe(422);
    expect(refused.body.message).toContain("must be a valid regular expression, but isn't");
    const status = { storedVersions: ['v1', 'v2'] };
    expect((await send('PATCH', `${own}/status`, { status })).body.status).toMatchObject(status);
    await send('DELETE', own);
    await expect.poll(async () => (await send('GET', own)).status).toBe(404);
  });

  it('stays established with a CA bundle that is invalid', async () => {
    const { cert } = issueCertificate({ commonName: 'a', usage: 'authority', notBefore: 0, notAfter: 1_000 });
    const bundle = base64(cert);
    const send = await stored(bundle, base64('nonsense'), { conversion: webhook(bundle) });
    expect((await send('PATCH', own, { metadata: { labels: { a: 'b' } } })).status).toBe(200);
    expect((await send('GET', gadgets)).status).toBe(200);
    expect(await established(send)).toEqual(yes);
  });
});
