import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type JsonObject, oneStep } from '../meta/index.ts';
import { gadgetGroup, gadgets } from '../registry/testing/gadgets.ts';
import { type Fixture, makeFixture } from './testing/fixture.ts';

let server: Fixture;
beforeEach(async () => {
  server = await makeFixture();
});
afterEach(() => server.close());

const aggregated = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };
const send: Fixture['send'] = (method, url, options) => server.send(method, url, { token: 'admin', ...options });
const get = async (path: string, headers: { readonly [name: string]: string } = {}) =>
  (await send('GET', path, { headers })).json() as JsonObject;
const namesOf = (list: JsonObject) => (list['groups'] as { name: string }[]).map(({ name }) => name);
const gadget = (name = 'g', version = 'v1') => ({
  apiVersion: `${gadgetGroup}/${version}`,
  kind: 'Gadget',
  metadata: { name },
  spec: { color: 'red' },
});
const objects = (version = 'v1', name = '') => `/apis/${gadgetGroup}/${version}/namespaces/default/gadgets${name}`;
const create = (version = 'v1', name = 'g') => send('POST', objects(version), { body: gadget(name, version) });

/** The custom resource in another group. */
function inGroup(group: string, { stored, served } = gadgets()) {
  const of = (one: typeof stored) => ({ ...one, group, storage: { ...one.storage, group } });
  const made = new Map([stored, ...served].map((one) => [one, of(one)]));
  return { stored: made.get(stored)!, served: served.map((one) => made.get(one)!) };
}

describe('discovery of custom resources', () => {
  it('shows groups by name behind the built-in ones, as they are installed and removed', async () => {
    const { registry } = server;
    const builtIn = namesOf(await get('/apis'));
    for (const group of ['z.example.com', 'b.example.com', 'm.example.com']) registry.install(inGroup(group));
    const groups = ['b.example.com', 'm.example.com', 'z.example.com'];
    expect(namesOf(await get('/apis'))).toEqual([...builtIn, ...groups]);
    const { items } = (await get('/apis', aggregated)) as { items: { metadata: { name: string } }[] };
    expect(items.map(({ metadata }) => metadata.name)).toEqual([...builtIn, ...groups]);
    registry.remove('m.example.com', 'gadgets');
    expect(namesOf(await get('/apis'))).toEqual([...builtIn, 'b.example.com', 'z.example.com']);
    expect((await send('GET', '/apis/m.example.com')).text).toBe('404 page not found\n');
    const { paths } = (await get('/')) as { paths: string[] };
    expect(paths.filter((path) => path.includes('example.com'))).toEqual([
      '/apis/b.example.com',
      '/apis/b.example.com/v1',
      '/apis/b.example.com/v1beta1',
      '/apis/z.example.com',
      '/apis/z.example.com/v1',
      '/apis/z.example.com/v1beta1',
      '/openapi/v3/apis/b.example.com/v1',
      '/openapi/v3/apis/b.example.com/v1beta1',
      '/openapi/v3/apis/z.example.com/v1',
      '/openapi/v3/apis/z.example.com/v1beta1',
    ]);
  });

  it('is accepted by any media range', async () => {
    server.registry.install(gadgets());
    const headers = { accept: 'application/*' };
    for (const path of [`/apis/${gadgetGroup}`, `/apis/${gadgetGroup}/v1`]) {
      expect((await send('GET', path, { headers })).status).toBe(200);
    }
  });

  it('shows the versions of a group and their resources, with verbs that do not write while it is terminating', async () => {
    const { registry } = server;
    registry.install(gadgets());
    expect(await get(`/apis/${gadgetGroup}`)).toEqual({
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: gadgetGroup,
      versions: ['v1', 'v1beta1'].map((version) => ({ groupVersion: `${gadgetGroup}/${version}`, version })),
      preferredVersion: { groupVersion: `${gadgetGroup}/v1`, version: 'v1' },
    });
    const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
    expect((await get(`/apis/${gadgetGroup}/v1beta1`))['resources']).toMatchObject([
      { name: 'gadgets', singularName: 'gadget', kind: 'Gadget', namespaced: true, shortNames: ['gad'], verbs },
    ]);
    const { stored } = gadgets();
    const ending = { ...stored, terminating: true };
    registry.install({ stored: ending, served: [ending] });
    const reading = ['delete', 'deletecollection', 'get', 'list', 'watch'];
    expect((await get(`/apis/${gadgetGroup}/v1`))['resources']).toMatchObject([{ verbs: reading }]);
    const { items } = (await get('/apis', aggregated)) as { items: { metadata: { name: string } }[] };
    expect(items.at(-1)).toMatchObject({
      metadata: { name: gadgetGroup },
      versions: [
        {
          version: 'v1',
          resources: [{ responseKind: { group: gadgetGroup, version: 'v1', kind: 'Gadget' }, verbs: reading }],
        },
      ],
    });
  });

  it('has the same ETag until something in it changes', async () => {
    const { registry } = server;
    registry.install(gadgets());
    registry.install(inGroup('other.example.com'));
    const tag = async (path: string) => String((await send('GET', path)).headers['etag']);
    const paths = ['/apis', '/apis/apps/v1', `/apis/${gadgetGroup}`, `/apis/${gadgetGroup}/v1`];
    const before = await Promise.all(paths.map(tag));
    registry.install(inGroup('other.example.com', gadgets({ served: ['v1'] })));
    const after = await Promise.all(paths.map(tag));
    expect(after.map((one, i) => one === before[i])).toEqual([false, true, true, true]);
  });
});

describe('requests for custom resources', () => {
  it('are served in every version; a deprecated one warns', async () => {
    server.registry.install(gadgets());
    const made = await create('v1beta1');
    expect([made.status, made.headers['warning']]).toEqual([
      201,
      ['299 - "ref.example.com/v1beta1 Gadget is deprecated"'],
    ]);
    const read = await send('GET', objects('v1', '/g'));
    expect([read.json(), read.headers['warning']]).toMatchObject([{ ...gadget(), metadata: { name: 'g' } }, undefined]);
  });

  it('get a 404 as text in what is not served, and a Status for an unknown subresource', async () => {
    server.registry.install(gadgets({ served: ['v1'] }));
    await create();
    for (const path of [
      objects('v1beta1', '/g'),
      objects('v2', '/g'),
      `/apis/${gadgetGroup}/v1/namespaces/default/widgets/g`,
      `/apis/${gadgetGroup}/v1/gadgets/g`,
      `/apis/${gadgetGroup}/v2`,
    ]) {
      const { status, text } = await send('GET', path);
      expect([path, status, text]).toEqual([path, 404, '404 page not found\n']);
    }
    expect((await send('GET', objects('v1', '/g/scale'))).json()).toMatchObject({
      message: 'gadgets.ref.example.com "g" not found',
      details: { group: gadgetGroup, kind: 'gadgets', name: 'g' },
    });
    expect((await send('GET', '/apis/apps/v1/gadgets')).json()).toMatchObject({ kind: 'Status', code: 404 });
  });

  // As the reference server answers: built-in resources have routes for their methods, custom resources have none.
  it('are read with HEAD, and name the verb that a path does not serve', async () => {
    server.registry.install(gadgets());
    await create();
    for (const path of [objects(), objects('v1', '/g'), `/apis/${gadgetGroup}/v1/gadgets`]) {
      const { status, text } = await send('HEAD', path);
      expect([path, status, text]).toEqual([path, 200, '']);
    }
    expect((await send('HEAD', objects('v1', '/absent'))).status).toBe(404);
    const body = { apiVersion: `${gadgetGroup}/v1`, kind: 'Gadget' };
    const patch = { body, headers: { 'content-type': 'application/merge-patch+json' } };
    for (const [method, options] of [['PATCH', patch] as const, ['PUT', { body }] as const]) {
      expect((await send(method, objects(), options)).json()).toMatchObject({
        code: 400,
        reason: 'BadRequest',
        message: 'name must be provided',
      });
    }
    expect((await send('OPTIONS', objects('v1', '/g'))).json()).toMatchObject({
      code: 405,
      reason: 'MethodNotAllowed',
      message: ' is not supported on resources of kind "gadgets.ref.example.com"',
      details: { group: gadgetGroup, kind: 'gadgets' },
    });
    for (const [method, options] of [['POST', { body }] as const, ['PATCH', patch] as const, ['DELETE', {}] as const]) {
      const { status, text } = await send(method, `/apis/${gadgetGroup}/v1/gadgets`, options);
      expect([method, status, text]).toEqual([method, 404, '404 page not found\n']);
    }
  });

  // Clients of metadata, such as a garbage collector, ask for protobuf, whatever the kinds.
  it('have their metadata in protobuf', async () => {
    server.registry.install(gadgets());
    await create();
    const accept = (as: string) => `application/vnd.kubernetes.protobuf;as=${as};g=meta.k8s.io;v=v1`;
    for (const [as, url] of [
      ['PartialObjectMetadata', objects('v1', '/g')],
      ['PartialObjectMetadataList', objects()],
      ['PartialObjectMetadata', `${objects()}?watch=1&timeoutSeconds=-1`],
    ] as const) {
      const answer = await send('GET', url, { headers: { accept: `${accept(as)},application/json` } });
      const protobuf = expect.stringMatching(/^application\/vnd\.kubernetes\.protobuf(?:;|$)/);
      expect([answer.status, answer.headers['content-type']]).toEqual([200, protobuf]);
      if (!url.includes('watch')) {
        expect(answer.text).toContain(as);
        expect(answer.text).not.toContain('red');
      }
    }
    expect((await send('GET', objects(), { headers: { accept: accept('Table') } })).status).toBe(406);
  });

  it('are refused in protobuf and as strategic merge patches', async () => {
    server.registry.install(gadgets());
    await create();
    const headers = { accept: 'application/vnd.kubernetes.protobuf' };
    expect((await send('GET', objects('v1', '/g'), { headers })).status).toBe(406);
    const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
    expect((await send('PATCH', objects('v1', '/g'), { headers: strategic, body: {} })).status).toBe(415);
  });
});

// Texts of the reference server.
describe('the type of a custom object', () => {
  const mustBe = 'the object provided is unrecognized (must be of type Gadget): ';
  const wrongVersion = (given: string) =>
    `the API version in the data (${given}) does not match the expected API version (ref.example.com/v1)`;
  const answerOf = async (...[method, url, options]: Parameters<Fixture['send']>) => {
    const { code, message, details } = (await send(method, url, options)).json() as JsonObject;
    return [code, message, details];
  };
  const yaml = { 'content-type': 'application/yaml' };

  it.each([
    [
      '{"metadata":{"name":"g"}}',
      {},
      `Object 'Kind' is missing in '{"metadata":{"name":"g"}}' ({"metadata":{"name":"g"}})`,
    ],
    [
      '{"apiVersion": "ref.example.com/v1", "kind": ""}',
      {},
      `Object 'Kind' is missing in '{"apiVersion": "ref.example.com/v1", "kind": ""}' ({"apiVersion": "ref.example.co ...)`,
    ],
    ['null', {}, "Object 'Kind' is missing in 'null' (6e756c6c)"],
    ['{}', yaml, "Object 'Kind' is missing in '{}' ({})"],
    ['a: b\n', yaml, "Object 'Kind' is missing in 'a: b\n' (613a20620a)"],
    ['', yaml, "Object 'Kind' is missing in '' (<empty>)"],
    ['{"apiVersion":"a/b/c"}', {}, 'unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})'],
  ])('is in its body: %s', async (body, headers, why) => {
    server.registry.install(gadgets());
    for (const [method, path] of [
      ['POST', ''],
      ['PUT', '/g'],
    ] as const) {
      expect(await answerOf(method, objects('v1', path), { body, headers })).toEqual([400, mustBe + why, undefined]);
    }
  });

  it('is missed in the beginning of a long body', async () => {
    server.registry.install(gadgets());
    const { text } = await send('POST', objects(), { body: { spec: 'x'.repeat(1_000_000) } });
    expect(text).toContain("Object 'Kind' is missing");
    expect(text.length).toBeLessThan(12_000);
  });

  it('is that of the resource', async () => {
    server.registry.install(gadgets());
    await create();
    const { kind, metadata, spec } = gadget();
    const of = async (body: JsonObject) => answerOf('POST', objects(), { body: { metadata, spec, ...body } });
    expect(await of({ kind })).toEqual([400, wrongVersion(''), undefined]);
    expect(await of({ apiVersion: 'v2', kind: 'Other' })).toEqual([400, wrongVersion('v2'), undefined]);
    expect(await of({ ...gadget(), kind: 'Other' })).toMatchObject([
      422,
      'Other.ref.example.com "g" is invalid: kind: Invalid value: "Other": must be Gadget',
      { group: 'ref.example.com', kind: 'Other', name: 'g', causes: [{ field: 'kind' }] },
    ]);
  });

  it('is not changed by a patch', async () => {
    server.registry.install(gadgets());
    await create();
    const headers = { 'content-type': 'application/merge-patch+json' };
    const patch = (body: JsonObject) => answerOf('PATCH', objects('v1', '/g'), { headers, body });
    expect(await patch({ apiVersion: 'zed/v1' })).toMatchObject([
      422,
      'Gadget.zed "g" is invalid: apiVersion: Invalid value: "zed/v1": must be ref.example.com/v1',
      { group: 'zed', kind: 'Gadget', name: 'g', causes: [{ field: 'apiVersion' }] },
    ]);
    expect(await patch({ apiVersion: 'zed/v1', kind: 'Other' })).toMatchObject([
      422,
      'Other.zed "g" is invalid: [kind: Invalid value: "Other": must be Gadget, apiVersion: Invalid value: "zed/v1": must be ref.example.com/v1]',
      { causes: [{ field: 'kind' }, { field: 'apiVersion' }] },
    ]);
    const refusals: [JsonObject, RegExp][] = [
      [{ kind: null }, /^ "" is invalid: patch: Invalid value: "(.*)": Object 'Kind' is missing in '\{.*\}'$/],
      [{ apiVersion: 'a/b/c' }, /^ "" is invalid: patch: .*": unexpected GroupVersion string: a\/b\/c$/],
      [
        { kind: 5 },
        /": couldn't get version\/kind; json parse error: json: cannot unmarshal number into Go struct field \.kind of type string$/,
      ],
    ];
    for (const [body, why] of refusals) {
      const [code, message, details] = await patch(body);
      expect([code, details]).toMatchObject([422, { causes: [{ field: 'patch' }] }]);
      expect(message).toMatch(why);
    }
    const removed = 'Gadget "g" is invalid: apiVersion: Invalid value: "": must be ref.example.com/v1';
    expect(await patch({ apiVersion: null })).toMatchObject([422, removed, {}]);
  });
});

describe('OpenAPI of custom resources', () => {
  const v3 = `/openapi/v3/apis/${gadgetGroup}/v1`;
  const indexed = async () => (await get('/openapi/v3'))['paths'] as { [path: string]: { serverRelativeURL: string } };

  it('has paths, and schemas with their kind', async () => {
    server.registry.install(gadgets());
    const { paths, components } = (await get(v3)) as {
      paths: { [path: string]: JsonObject };
      components: { schemas: { [name: string]: JsonObject } };
    };
    const one = `/apis/${gadgetGroup}/v1/namespaces/{namespace}/gadgets/{name}`;
    expect(Object.keys(paths)).toContain(one);
    expect(JSON.stringify(paths[one]!['patch'])).not.toContain('strategic');
    const { schemas } = components;
    expect(schemas['com.example.ref.v1.Gadget']).toMatchObject({
      type: 'object',
      properties: { spec: { type: 'object' } },
      'x-kubernetes-group-version-kind': [{ group: gadgetGroup, kind: 'Gadget', version: 'v1' }],
    });
    for (const kind of ['Gadget', 'GadgetList']) {
      expect(schemas[`com.example.ref.v1.${kind}`]).toMatchObject({
        'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.color' }],
      });
    }
    for (const [, name] of JSON.stringify({ paths, schemas }).matchAll(/#\/components\/schemas\/([^"]+)"/g)) {
      expect(Object.keys(schemas)).toContain(name);
    }
    const whole = (await get('/openapi/v2')) as { paths: JsonObject; definitions: { [name: string]: JsonObject } };
    expect(whole.paths[one]).toBeDefined();
    expect(whole.definitions['com.example.ref.v1.Gadget']).toMatchObject({ properties: { spec: { type: 'object' } } });
  });

  it('has another hash when a group version changes, and the same one otherwise', async () => {
    const { registry } = server;
    registry.install(gadgets());
    const before = await indexed();
    const urlOf = (paths: typeof before, path: string) => paths[path.slice('/openapi/v3/'.length)]!.serverRelativeURL;
    const first = await send('GET', urlOf(before, v3));
    expect([first.status, first.headers['etag']]).toEqual([200, `"${urlOf(before, v3).split('=')[1]}"`]);
    registry.install(inGroup('other.example.com'));
    registry.install(gadgets());
    expect(await indexed()).toMatchObject(before);
    registry.install(gadgets({ color: 'red' }));
    const after = await indexed();
    expect(urlOf(after, v3)).not.toBe(urlOf(before, v3));
    expect(urlOf(after, '/openapi/v3/apis/apps/v1')).toBe(urlOf(before, '/openapi/v3/apis/apps/v1'));
    const moved = await send('GET', urlOf(before, v3));
    expect([moved.status, moved.headers['location']]).toEqual([301, urlOf(after, v3)]);
    expect((await send('GET', urlOf(after, v3))).text).toContain('"default":{"color":"red"}');
  });

  it('is made for the versions that are asked for, not for all when one changes', async () => {
    let made = 0;
    const { stored } = gadgets();
    const counting = (group: string) => {
      const [version] = stored.versions;
      const openApi = () => {
        made += 1;
        return oneStep(() => ({ type: 'object' }));
      };
      const one = { ...stored, versions: [{ ...version!, openApi }] };
      return inGroup(group, { stored: one, served: [one] } as never);
    };
    for (let i = 0; i < 20; i++) server.registry.install(counting(`g${i}.example.com`));
    await indexed();
    expect(made).toBe(20);
    server.registry.install(counting('g3.example.com'));
    await indexed();
    expect(made).toBe(21);
    await get('/openapi/v3/apis/g3.example.com/v1');
    await get('/openapi/v3/apis/g3.example.com/v1');
    expect(made).toBe(22);
  });
});
