import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Extension, type Front, json, startFront } from './support/extension.ts';
import { hasKubectl } from './support/requirements.ts';

/* Two extension API servers that have OpenAPI v2 documents only, whose definitions have the same names. */

const ref = (name: string) => ({ $ref: `#/definitions/${name}` });

/** The OpenAPI v2 document of an extension, whose things have one field of their own. */
function documentOf({ root, group }: Extension, field: string) {
  const kind = { group, version: 'v1', kind: 'Thing' };
  const about = { 'x-kubernetes-group-version-kind': kind };
  const produces = ['application/json', 'application/yaml'];
  const limit = { name: 'limit', in: 'query', type: 'integer', description: 'The most things.', uniqueItems: true };
  const body = { name: 'body', in: 'body', required: true, description: 'The thing.', schema: ref('shared.Thing') };
  return {
    swagger: '2.0',
    info: { title: 'extension', version: 'v0' },
    paths: {
      [`${root}/things`]: {
        get: {
          operationId: 'listThing',
          produces,
          schemes: ['https'],
          parameters: [limit, { $ref: '#/parameters/none' }],
          responses: { 200: { description: 'OK', schema: ref('shared.Thing') }, 401: { description: 'Unauthorized' } },
          'x-kubernetes-action': 'list',
          ...about,
        },
        post: {
          consumes: produces,
          produces,
          parameters: [{ $ref: '#/parameters/body' }],
          responses: {
            201: { description: 'Created', schema: ref('shared.Thing'), headers: { a: { type: 'string' } } },
          },
          ...about,
        },
        parameters: [{ $ref: '#/parameters/pretty' }],
      },
    },
    parameters: { body, pretty: { name: 'pretty', in: 'query', type: 'string', uniqueItems: true } },
    definitions: {
      'shared.Thing': {
        type: 'object',
        description: `A thing with a ${field}.`,
        properties: {
          [field]: { type: 'integer', format: 'int32', description: `Its ${field} in grams.` },
          part: ref('shared.Part'),
          spare: { description: 'Another part.', ...ref('shared.Part') },
          parts: { type: 'array', items: ref('shared.Part'), 'x-kubernetes-list-type': 'atomic' },
        },
        'x-kubernetes-group-version-kind': [kind],
      },
      'shared.Part': { type: 'object', properties: { [`${field}Of`]: { type: 'string' } } },
      'shared.Same': { type: 'string' },
    },
  };
}

let front: Front;
let pears: Extension;
let plums: Extension;

beforeAll(async () => {
  front = await startFront();
  pears = new Extension(front.folder, 'pears');
  plums = new Extension(front.folder, 'plums');
  for (const [extension, field] of [
    [pears, 'weight'],
    [plums, 'stone'],
  ] as const) {
    extension.answers['/openapi/v2'] = json(documentOf(extension, field));
    const things = { name: 'things', singularName: 'thing', namespaced: false, kind: 'Thing', verbs: ['get', 'list'] };
    const groupVersion = `${extension.group}/v1`;
    extension.answers[extension.root] = json({ kind: 'APIResourceList', groupVersion, resources: [things] });
    await extension.start(front);
  }
});
afterAll(async () => {
  await pears.close();
  await plums.close();
  await front.close();
});

/** The address of the OpenAPI v3 document of an extension, once the index has it. */
async function addressOf({ root }: Extension): Promise<string> {
  const indexed = async () =>
    JSON.parse((await front.request('GET', '/openapi/v3')).text).paths[root.slice(1)]?.serverRelativeURL ?? '';
  await expect.poll(indexed).toMatch(/\?hash=[0-9A-F]{128}$/);
  return indexed();
}

describe('the OpenAPI v3 document of an extension API server that has a v2 document only', () => {
  it('is in the index, and has the content of the v2 document', async () => {
    const address = await addressOf(pears);
    const { status, headers, body } = await front.request('GET', address);
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(headers['etag']).toBe(`"${address.split('=')[1]}"`);
    const component = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    // Written by hand from the v2 document, after OpenAPI 3.0.
    const content = {
      'application/json': { schema: component('shared.Thing') },
      'application/yaml': { schema: component('shared.Thing') },
    };
    const kind = { group: pears.group, version: 'v1', kind: 'Thing' };
    expect(body).toMatchObject({ openapi: '3.0.0' });
    expect(body.paths).toEqual({
      [`${pears.root}/things`]: {
        get: {
          operationId: 'listThing',
          parameters: [
            {
              name: 'limit',
              in: 'query',
              description: 'The most things.',
              schema: { type: 'integer', uniqueItems: true },
            },
          ],
          responses: { 200: { description: 'OK', content }, 401: { description: 'Unauthorized' } },
          'x-kubernetes-action': 'list',
          'x-kubernetes-group-version-kind': kind,
        },
        post: {
          parameters: [],
          requestBody: { description: 'The thing.', content, required: true },
          responses: { 201: { description: 'Created', content } },
          'x-kubernetes-group-version-kind': kind,
        },
        parameters: [{ name: 'pretty', in: 'query', schema: { type: 'string', uniqueItems: true } }],
      },
    });
    expect(body.components.schemas).toEqual({
      'shared.Thing': {
        type: 'object',
        description: 'A thing with a weight.',
        properties: {
          weight: { type: 'integer', format: 'int32', description: 'Its weight in grams.' },
          part: component('shared.Part'),
          spare: { description: 'Another part.', allOf: [component('shared.Part')] },
          parts: { type: 'array', items: component('shared.Part'), 'x-kubernetes-list-type': 'atomic' },
        },
        'x-kubernetes-group-version-kind': [kind],
      },
      'shared.Part': { type: 'object', properties: { weightOf: { type: 'string' } } },
    });
  });

  it('is also served in protobuf, and under its hash only', async () => {
    const path = (await addressOf(pears)).split('?')[0] as string;
    const accept = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf';
    const { status, headers } = await front.request('GET', path, undefined, { accept });
    expect([status, headers['content-type']]).toEqual([200, accept.replace('@', '.')]);
    expect((await front.request('GET', `${path}?hash=AB`)).status).toBe(301);
  });

  it.skipIf(!hasKubectl())('lets kubectl explain its kinds', async () => {
    await addressOf(plums);
    const kubectl = (...args: string[]) =>
      promisify(execFile)(
        'kubectl',
        [
          ...args,
          ...['--server', front.url, '--token', front.authorization.replace('Bearer ', '')],
          '--insecure-skip-tls-verify',
        ],
        { env: { PATH: process.env['PATH'], HOME: front.folder } },
      );
    const explained = await kubectl('explain', 'thing.stone', '--api-version', `${plums.group}/v1`);
    expect(explained.stdout).toMatch(/FIELD: stone <integer>.*Its stone in grams\./s);
  });
});

describe('the OpenAPI v2 document of the server', () => {
  it('has the definitions of both under different names, and references that follow them', async () => {
    await Promise.all([addressOf(pears), addressOf(plums)]);
    const { definitions, paths } = (await front.request('GET', '/openapi/v2')).body;
    // As in the reference server, the second one of a name gets the suffix `_v2`.
    const thingOf = (extension: Extension) => {
      const { schema } = paths[`${extension.root}/things`].get.responses[200];
      return schema.$ref.replace('#/definitions/', '') as string;
    };
    expect([thingOf(pears), thingOf(plums)].sort()).toEqual(['shared.Thing', 'shared.Thing_v2']);
    for (const [extension, field] of [
      [pears, 'weight'],
      [plums, 'stone'],
    ] as const) {
      const name = thingOf(extension);
      const suffix = name.slice('shared.Thing'.length);
      expect(definitions[name]).toEqual({
        ...documentOf(extension, field).definitions['shared.Thing'],
        properties: {
          [field]: { type: 'integer', format: 'int32', description: `Its ${field} in grams.` },
          part: ref(`shared.Part${suffix}`),
          spare: { description: 'Another part.', ...ref(`shared.Part${suffix}`) },
          parts: { type: 'array', items: ref(`shared.Part${suffix}`), 'x-kubernetes-list-type': 'atomic' },
        },
      });
      expect(Object.keys(definitions[`shared.Part${suffix}`].properties)).toEqual([`${field}Of`]);
      // A parameter that the document of the extension shares between operations stands in each of them.
      expect(paths[`${extension.root}/things`].post.parameters[0].name).toBe('body');
      expect(paths[`${extension.root}/things`].post.parameters[0].schema).toEqual(ref(name));
    }
    expect(definitions['shared.Same']).toBeUndefined();
  });
});
