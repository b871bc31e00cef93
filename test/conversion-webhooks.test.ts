import { afterEach, describe, expect, it } from 'vitest';
import { createServer, type OrchServer } from '../src/server/index.ts';
import { type Hook, type HookCall, startHook } from './support/hook.ts';
import { externalAddress } from './support/requirements.ts';

// Conversion webhooks of custom resource definitions, over TLS.

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought
  readonly body: any;
}
type Send = (method: string, url: string, body?: unknown, type?: string) => Promise<Answer>;

async function start(): Promise<Send> {
  const server: OrchServer = await createServer({ controllers: '-*', apiDomain: 'k8s.io', securePort: 0 });
  open.push(server);
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

const group = 'turn.example.com';
const which = `conversion webhook for ${group}/v1, Kind=Wheel`;
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const wheels = (version: string, name = '') =>
  `/apis/${group}/${version}/namespaces/default/wheels${name === '' ? '' : `/${name}`}`;
const merge = 'application/merge-patch+json';

const schema = (size: string) => ({
  openAPIV3Schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: { [size]: { type: 'integer', minimum: 1 }, colour: { type: 'string', default: 'black' } },
      },
    },
  },
});
const definition = (clientConfig: object, conversionReviewVersions = ['v1']) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `wheels.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'wheels', singular: 'wheel', kind: 'Wheel', listKind: 'WheelList' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: schema('radius') },
      { name: 'v2', served: true, storage: false, schema: schema('diameter') },
    ],
    conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions, clientConfig } },
  },
});
const wheel = (version: string, name: string, spec: object, labels: object = {}) => ({
  apiVersion: `${group}/${version}`,
  kind: 'Wheel',
  metadata: { name, labels },
  spec,
});

interface Wheel {
  readonly metadata: { readonly name: string; readonly labels?: { readonly mode?: string } };
  readonly spec: { readonly radius?: number; readonly diameter?: number };
}
function turn(given: Wheel, apiVersion: string) {
  const { radius, diameter, ...rest } = given.spec;
  const size = apiVersion.endsWith('v2')
    ? { diameter: diameter ?? (radius ?? 0) * 2 }
    : { radius: radius ?? (diameter ?? 0) / 2 };
  return { ...given, apiVersion, spec: { ...rest, ...size } };
}

type Converted = ReturnType<typeof turn>;
const success = { status: 'Success' };
/** The responses of a webhook for objects with a label `mode`. */
const modes: { readonly [mode: string]: (given: readonly Wheel[], converted: readonly Converted[]) => object } = {
  fail: () => ({ result: { status: 'Failure', message: 'it does not turn' }, convertedObjects: [] }),
  few: () => ({ result: success, convertedObjects: [] }),
  stay: (given) => ({ result: success, convertedObjects: given }),
  meta: (_, all) => ({
    result: success,
    convertedObjects: all.map((one) => ({ ...one, metadata: { ...one.metadata, name: 'other' } })),
  }),
  uid: (_, convertedObjects) => ({ uid: 'wrong', result: success, convertedObjects }),
  nostatus: (_, convertedObjects) => ({ convertedObjects }),
  nometa: (_, all) => ({ result: success, convertedObjects: all.map(({ metadata: _m, ...one }) => one) }),
  kind: (_, all) => ({ result: success, convertedObjects: all.map((one) => ({ ...one, kind: 'Square' })) }),
  nokind: (_, all) => ({ result: success, convertedObjects: all.map(() => ({})) }),
  badlabel: (_, all) => ({
    result: success,
    convertedObjects: all.map((one) => ({ ...one, metadata: { ...one.metadata, labels: { a: 1 } } })),
  }),
  invalidlabel: (_, all) => ({
    result: success,
    convertedObjects: all.map((one) => ({ ...one, metadata: { ...one.metadata, labels: { a: 'x y' } } })),
  }),
  labels: (_, all) => ({
    result: success,
    convertedObjects: all.map((one) => ({
      ...one,
      extra: 1,
      metadata: { ...one.metadata, generation: 77, labels: { ...one.metadata.labels, turned: 'yes' } },
    })),
  }),
};

function convert({ review: { apiVersion, kind, request } }: HookCall) {
  const objects = request.objects as Wheel[];
  const converted = objects.map((one) => turn(one, request.desiredAPIVersion));
  const mode = modes[objects[0]?.metadata.labels?.mode ?? ''];
  const response = mode?.(objects, converted) ?? { result: success, convertedObjects: converted };
  return { apiVersion, kind, response: { uid: request.uid, ...response } };
}

async function hookOf(answer: (call: HookCall) => unknown = convert, options?: Parameters<typeof startHook>[1]) {
  const hook = await startHook(answer, options);
  open.push(hook);
  return hook;
}

/** A server with the definition. */
async function serving(hook: Hook, config: object = { url: `${hook.url}/turn`, caBundle: hook.caBundle }) {
  const send = await start();
  expect((await send('POST', definitions, definition(config))).status).toBe(201);
  return send;
}

describe('the webhook of a definition', () => {
  it('converts objects that are read and written in another version than the storage version', async () => {
    const hook = await hookOf();
    const send = await serving(hook);
    const made = await send('POST', wheels('v1'), wheel('v1', 'a', { radius: 3 }));
    expect([made.status, made.body.spec, hook.calls]).toEqual([201, { radius: 3, colour: 'black' }, []]);
    const read = await send('GET', wheels('v2', 'a'));
    expect(read.body).toMatchObject({ apiVersion: `${group}/v2`, spec: { diameter: 6, colour: 'black' } });
    const { managedFields: _, ...metadata } = made.body.metadata;
    expect(hook.calls).toMatchObject([
      {
        method: 'POST',
        url: '/turn?timeout=30s',
        type: 'application/json',
        review: {
          kind: 'ConversionReview',
          apiVersion: 'apiextensions.k8s.io/v1',
          request: { desiredAPIVersion: `${group}/v2`, objects: [{ ...made.body, metadata }] },
        },
      },
    ]);
    expect(Object.keys(hook.calls[0]?.review)).toEqual(['kind', 'apiVersion', 'request', 'response']);
    const other = await send('POST', wheels('v2'), wheel('v2', 'b', { diameter: 8 }));
    expect([other.status, other.body.apiVersion, other.body.spec]).toEqual([
      201,
      `${group}/v2`,
      { diameter: 8, colour: 'black' },
    ]);
    expect((await send('GET', wheels('v1', 'b'))).body.spec).toEqual({ radius: 4, colour: 'black' });
    const { body: list } = await send('GET', wheels('v2'));
    expect(list.items.map((one: Converted) => [one.apiVersion, one.metadata.name, one.spec])).toEqual([
      [`${group}/v2`, 'a', { diameter: 6, colour: 'black' }],
      [`${group}/v2`, 'b', { diameter: 8, colour: 'black' }],
    ]);
    const patched = await send('PATCH', wheels('v2', 'b'), { spec: { diameter: 4 } }, merge);
    expect([patched.status, patched.body.spec]).toEqual([200, { diameter: 4, colour: 'black' }]);
    expect((await send('PATCH', wheels('v2', 'b'), { spec: { diameter: 0 } }, merge)).status).toBe(422);
    const metrics = (await send('GET', '/metrics')).body as string;
    const labels = `{crd_name="wheels.${group}",from_version="v1",to_version="v2",succeeded="true"}`;
    expect(metrics).toMatch(`apiserver_crd_conversion_webhook_duration_seconds_count${labels} `);
  });

  it.each([
    ['fail', 'failed: it does not turn'],
    ['few', 'returned 0 objects, expected 1'],
    ['stay', `returned invalid object at index 0: invalid groupVersion (expected ${group}/v2, received ${group}/v1)`],
    ['meta', 'returned invalid object: must have the same name: m != other'],
    ['uid', /^failed: expected response.uid="[-0-9a-f]{36}", got "wrong"$/],
    ['nostatus', "failed: response.result.status was '', not 'Success'"],
    ['nometa', 'returned invalid object: must have the same name: m != '],
    ['kind', 'returned invalid object at index 0: invalid kind (expected Wheel, received Square)'],
    ['badlabel', 'returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object'],
    ['invalidlabel', /^returned invalid metadata: metadata.labels: Invalid value: "x y": a valid label must be /],
  ])('is not trusted: %s', async (mode, why) => {
    const send = await serving(await hookOf());
    await send('POST', wheels('v1'), wheel('v1', 'm', { radius: 1 }, { mode }));
    const { status, body } = await send('GET', wheels('v2', 'm'));
    const message = typeof why === 'string' ? `${which} ${why}` : expect.stringMatching(why);
    if (typeof why === 'string') {
      expect([status, body]).toEqual([
        500,
        { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 },
      ]);
    } else expect([status, body.message.slice(which.length + 1)]).toEqual([500, message]);
  });

  it('may change labels and annotations, and no other metadata; what it adds is pruned', async () => {
    const send = await serving(await hookOf());
    const made = await send('POST', wheels('v1'), wheel('v1', 'm', { radius: 1 }, { mode: 'labels' }));
    const { body } = await send('GET', wheels('v2', 'm'));
    expect(body).toEqual({
      ...made.body,
      apiVersion: `${group}/v2`,
      metadata: { ...made.body.metadata, labels: { mode: 'labels', turned: 'yes' } },
      spec: { diameter: 2, colour: 'black' },
    });
  });

  it('may know the older version of reviews only, whose uid is not verified', async () => {
    const hook = await hookOf();
    const send = await start();
    const config = { url: `${hook.url}/turn`, caBundle: hook.caBundle };
    await send('POST', definitions, definition(config, ['v9', 'v1beta1', 'v1']));
    await send('POST', wheels('v1'), wheel('v1', 'm', { radius: 1 }, { mode: 'uid' }));
    expect((await send('GET', wheels('v2', 'm'))).body.spec).toEqual({ diameter: 2, colour: 'black' });
    expect(hook.calls[0]?.review.apiVersion).toBe('apiextensions.k8s.io/v1beta1');
  });

  it('is needed for other versions only; its definition can be deleted without it', async () => {
    const hook = await hookOf();
    const send = await serving(hook);
    await send('POST', wheels('v1'), wheel('v1', 'a', { radius: 3 }));
    await hook.close();
    const { status, body } = await send('GET', wheels('v2', 'a'));
    expect([status, body.reason, body.message]).toEqual([
      500,
      undefined,
      `${which} failed: Post "${hook.url}/turn?timeout=30s": dial tcp 127.0.0.1:${hook.port}: connect: connection refused`,
    ]);
    expect((await send('GET', wheels('v1', 'a'))).body.spec).toEqual({ radius: 3, colour: 'black' });
    await expect.poll(async () => (await send('GET', '/readyz')).status).toBe(200);
    await send('DELETE', `${definitions}/wheels.${group}`);
    await expect.poll(async () => (await send('GET', `${definitions}/wheels.${group}`)).status).toBe(404);
  });

  it('is another one at once when the definition changes', async () => {
    const hook = await hookOf();
    const send = await serving(hook, { url: 'https://127.0.0.1:1/turn' });
    await send('POST', wheels('v1'), wheel('v1', 'a', { radius: 3 }));
    expect((await send('GET', wheels('v2', 'a'))).body.message).toBe(
      `${which} failed: Post "https://127.0.0.1:1/turn?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`,
    );
    const clientConfig = { url: `${hook.url}/turn`, caBundle: hook.caBundle };
    const changed = { spec: { conversion: { webhook: { clientConfig } } } };
    expect((await send('PATCH', `${definitions}/wheels.${group}`, changed, merge)).status).toBe(200);
    expect((await send('GET', wheels('v2', 'a'))).body).toMatchObject({ spec: { diameter: 6, colour: 'black' } });
  });
});

describe('a response of a webhook that is not a review', () => {
  const failure = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'not today', code: 418 };
  it.each([
    [{ status: 404 }, 'the server could not find the requested resource'],
    [
      { status: 500, type: 'text/plain', text: 'oh "no"\n' },
      'an error on the server ("oh \\"no\\"") has prevented the request from succeeding',
    ],
    [{ status: 502, text: '{}' }, 'an error on the server ("unknown") has prevented the request from succeeding'],
    [{ status: 302 }, 'the server responded with the status code 302 but did not return more information'],
    [{ status: 418, text: JSON.stringify(failure) }, 'not today'],
    [{ status: 200 }, '0-length response with status code: 200 and content type: application/json'],
    [{ kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1' }, 'no response provided'],
    [
      { kind: 'Pod', apiVersion: 'v1' },
      'expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /v1, Kind=Pod',
    ],
    [
      { status: 200, text: 'hello' },
      "couldn't get version/kind; json parse error: invalid character 'h' looking for beginning of value",
    ],
  ])('%j fails: %s', async (answer, why) => {
    const send = await serving(await hookOf(() => answer));
    await send('POST', wheels('v1'), wheel('v1', 'a', { radius: 3 }));
    const { status, body } = await send('GET', wheels('v2', 'a'));
    expect([status, body.message]).toEqual([500, `${which} failed: ${why}`]);
  });

  it('fails when the connection is closed, when it is too large, and when the certificate is not trusted', async () => {
    const post = (hook: Hook) => `${which} failed: Post "${hook.url}/turn?timeout=30s": `;
    const closing = await hookOf(() => undefined);
    const large = await hookOf(() => ({ status: 200, text: 'x'.repeat(9 * 1024 * 1024) }));
    const other = await hookOf(convert, { names: ['other.example'] });
    const send = await serving(closing);
    await send('POST', wheels('v1'), wheel('v1', 'a', { radius: 3 }));
    const message = async (hook: Hook, caBundle = hook.caBundle) => {
      const clientConfig = { url: `${hook.url}/turn`, caBundle };
      await send(
        'PATCH',
        `${definitions}/wheels.${group}`,
        { spec: { conversion: { webhook: { clientConfig } } } },
        merge,
      );
      return (await send('GET', wheels('v2', 'a'))).body.message;
    };
    expect(await message(closing)).toBe(`${post(closing)}EOF`);
    expect(await message(large)).toBe(`${post(large)}the response has more than 4194304 bytes`);
    const x509 = 'tls: failed to verify certificate: x509:';
    expect(await message(other, closing.caBundle)).toBe(
      `${post(other)}${x509} certificate signed by unknown authority`,
    );
    expect(await message(other)).toBe(
      `${post(other)}${x509} cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs`,
    );
  });
});

describe('requests to a webhook', () => {
  it('are limited in number; other resources do not wait for them', async () => {
    const waiting: (() => void)[] = [];
    const hook = await hookOf(async (call) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return convert(call);
    });
    const send = await serving(hook);
    const names = Array.from({ length: 40 }, (_, i) => `w${i}`);
    for (const name of names) await send('POST', wheels('v1'), wheel('v1', name, { radius: 1 }));
    const reads = Promise.all(names.map((name) => send('GET', wheels('v2', name))));
    await expect.poll(() => waiting.length).toBe(16);
    expect((await send('GET', '/api/v1/namespaces/default')).status).toBe(200);
    expect((await send('GET', wheels('v1', 'w0'))).status).toBe(200);
    const release = setInterval(() => {
      for (const resolve of waiting.splice(0)) resolve();
    }, 5);
    expect((await reads).map(({ status }) => status)).toEqual(names.map(() => 200));
    clearInterval(release);
    expect([hook.most(), hook.calls.length]).toEqual([16, 40]);
  });
});

describe('the service of a webhook', () => {
  const address = externalAddress();
  const service = (spec: object) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'turner' }, spec });
  const config = (hook: Hook, more: object = {}) => ({
    service: { namespace: 'default', name: 'turner', path: '/turn', ...more },
    caBundle: hook.caBundle,
  });
  const services = '/api/v1/namespaces/default/services';
  const failed = `${which} failed: Post "https://turner.default.svc:443/turn?timeout=30s": `;

  it.skipIf(address === undefined)('is called at one of its endpoints, by the name of the service', async () => {
    const hook = await hookOf(convert, { host: address ?? '', names: ['turner.default.svc'] });
    const send = await serving(hook, config(hook));
    const core = '/api/v1/namespaces/default';
    const ports = [{ name: 'web', port: 443 }];
    await send('POST', services, service({ ports, clusterIP: 'None' }));
    await send('POST', wheels('v1'), wheel('v1', 'a', { radius: 3 }));
    const { body } = await send('GET', wheels('v2', 'a'));
    expect(body.message).toBe(`${failed}cannot route to service with ClusterIP "None"`);
    await send('POST', `${core}/serviceaccounts`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default' },
    });
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'turner' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    expect((await send('POST', `${core}/pods`, pod)).status).toBe(201);
    const status = { podIP: address, podIPs: [{ ip: address }] };
    await send('PATCH', `${core}/pods/turner/status`, { status }, merge);
    const made = await send('POST', `${core}/endpoints`, {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'turner' },
      subsets: [
        {
          addresses: [{ ip: address, targetRef: { kind: 'Pod', namespace: 'default', name: 'turner' } }],
          ports: [{ name: 'web', port: hook.port }],
        },
      ],
    });
    expect(made.status).toBe(201);
    expect((await send('GET', wheels('v2', 'a'))).body).toMatchObject({ spec: { diameter: 6, colour: 'black' } });
    expect(hook.calls).toMatchObject([{ url: '/turn?timeout=30s' }]);
  });

  it('must exist, with the port', async () => {
    const hook = await hookOf(convert, { names: ['turner.default.svc'] });
    const send = await serving(hook, config(hook));
    await send('POST', wheels('v1'), wheel('v1', 'a', { radius: 3 }));
    expect((await send('GET', wheels('v2', 'a'))).body.message).toBe(`${failed}service "turner" not found`);
    await send('POST', services, service({ ports: [{ port: 80 }] }));
    expect((await send('GET', wheels('v2', 'a'))).body.message).toBe(
      `${failed}no service port 443 found for service "turner"`,
    );
  });

  it('may have an external name', async () => {
    const hook = await hookOf(convert, { names: ['turner.default.svc'] });
    const send = await serving(hook, config(hook, { port: hook.port }));
    await send('POST', services, service({ type: 'ExternalName', externalName: 'localhost' }));
    await send('POST', wheels('v1'), wheel('v1', 'a', { radius: 3 }));
    expect((await send('GET', wheels('v2', 'a'))).body).toMatchObject({ spec: { diameter: 6, colour: 'black' } });
  });
});
