import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createServer, type OrchServer } from '../src/server/index.ts';

// The examples of docs/custom-types.md do what the page says.

const page = readFileSync(new URL('../docs/custom-types.md', import.meta.url), 'utf8');
const [definition = '', refused = ''] = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text);
const backups = '/apis/example.com/v1/namespaces/default/backups';

let server: OrchServer;
beforeAll(async () => {
  server = await createServer({ controllers: '-*', apiDomain: 'k8s.io', securePort: 0 });
  const made = await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  expect(made).toMatchObject({ status: 201 });
});
afterAll(() => server.close());

async function send(method: string, url: string, body?: string, type = 'application/yaml') {
  const content = body === undefined ? {} : { body: Buffer.from(body) };
  const response = await server.client.request({ method, url, headers: { 'content-type': type }, ...content });
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body) pieces.push(piece);
  return { status: response.status, body: JSON.parse(Buffer.concat(pieces).toString()) };
}

it('refuses the object that the page says is refused, with its message', async () => {
  const [, message = ''] = /refused with 422: `(.*?)`/.exec(page) ?? [];
  expect(message).toContain('spec.keep');
  const { status, body } = await send('POST', backups, refused);
  expect({ status, message: body.message }).toEqual({ status: 422, message: expect.stringContaining(message) });
});

it('defaults, selects and protects the fields of a valid object', async () => {
  const made = await send('POST', backups, refused.replace(', keep: 9, limit: 5', ''));
  expect(made).toMatchObject({ status: 201, body: { spec: { source: 'db', keep: 7 } } });
  const found = async (source: string) =>
    (await send('GET', `${backups}?fieldSelector=spec.source=${source}`)).body.items;
  expect(await found('db')).toHaveLength(1);
  expect(await found('web')).toHaveLength(0);
  const patch = '{"spec":{"source":"web"}}';
  const changed = await send('PATCH', `${backups}/nightly`, patch, 'application/merge-patch+json');
  expect(changed.status).toBe(422);
  expect(changed.body.message).toContain('the source is db and cannot be changed');
  const strategic = await send('PATCH', `${backups}/nightly`, patch, 'application/strategic-merge-patch+json');
  expect(strategic.status).toBe(415);
});
