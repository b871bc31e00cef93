import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../meta/index.ts';
import { type Fixture, makeFixture } from './testing/fixture.ts';

// The reference server's responses to requests with meaningless options.
const configMaps = '/api/v1/namespaces/default/configmaps';

let server: Fixture;
beforeAll(async () => {
  server = await makeFixture();
  await server.send('POST', configMaps, { body: { metadata: { name: 'kept' } } });
});
afterAll(() => server.close());

async function told(method: string, url: string, body?: Json) {
  const answer = await server.send(method, url, body === undefined ? {} : { body });
  const { code, message } = answer.json() as { code?: number; message?: string };
  return [code, message];
}

describe('DeleteOptions', () => {
  const unreadable = "couldn't get version/kind; json parse error: json: cannot unmarshal";
  const typeFields =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  it.each<[Json, string]>([
    [
      { gracePeriodSeconds: 'x' },
      'json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
    ],
    [
      { gracePeriodSeconds: 1.5 },
      'json: cannot unmarshal number 1.5 into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
    ],
    [
      { orphanDependents: 'x' },
      'json: cannot unmarshal string into Go struct field DeleteOptions.orphanDependents of type bool',
    ],
    [{ dryRun: 'All' }, 'json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string'],
    [
      { preconditions: 'x' },
      'json: cannot unmarshal string into Go struct field DeleteOptions.preconditions of type v1.Preconditions',
    ],
    [
      { preconditions: { resourceVersion: 5 } },
      'json: cannot unmarshal number into Go struct field Preconditions.preconditions.resourceVersion of type string',
    ],
    [
      { kind: 'ConfigMap' },
      'no kind "ConfigMap" is registered for version "v1" in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"',
    ],
    [{ kind: 5 }, `${unreadable} number into Go struct field .kind of type string`],
    [[], `${unreadable} array into Go value of type ${typeFields}`],
  ])('%j', async (body, message) => {
    expect(await told('DELETE', `${configMaps}/kept`, body)).toEqual([400, message]);
    expect(await told('DELETE', configMaps, body)).toEqual([400, message]);
  });

  it('may be query parameters, preconditions included', async () => {
    const [code, message] = await told('DELETE', `${configMaps}/kept?uid=other`);
    expect([code, message]).toEqual([
      409,
      expect.stringContaining('the UID in the precondition (other) does not match'),
    ]);
    expect(await told('DELETE', `${configMaps}/kept?resourceVersion=1`)).toEqual([
      409,
      expect.stringContaining('the ResourceVersion in the precondition (1) does not match'),
    ]);
  });

  it('may be absent', async () => {
    expect((await server.send('DELETE', `${configMaps}/kept?dryRun=All`, { body: null })).status).toBe(200);
  });
});

describe('the name of an object', () => {
  it.each([
    ['..', "may not be '..'"],
    ['.', "may not be '.'"],
    ['a%25b', "may not contain '%'"],
  ])('%s', async (name, why) => {
    const refused = [400, `Name parameter invalid: ${JSON.stringify(decodeURIComponent(name))}: ${why}`];
    expect(await told('GET', `${configMaps}/${name}`)).toEqual(refused);
    expect(await told('DELETE', `${configMaps}/${name}`)).toEqual(refused);
    const body = { metadata: { name: decodeURIComponent(name) } };
    expect(await told('PUT', `${configMaps}/${name}`, body)).toEqual(refused);
  });
});

// As the reference server answers.
describe('the timeout of a request', () => {
  it.each([
    ['x', 'time: invalid duration "x"'],
    ['5', 'time: missing unit in duration "5"'],
  ])('is a duration, which %s is not', async (text, why) => {
    const refused = [400, `invalid timeout specified in the request URL - ${why}`];
    for (const path of [configMaps, '/version', '/nonesuch']) {
      expect(await told('GET', `${path}?timeout=${text}`)).toEqual(refused);
    }
    expect((await server.send('GET', `${configMaps}?watch=1&timeoutSeconds=-1&timeout=${text}`)).status).toBe(200);
  });

  it.each(['', '0', '-1s', '1h', '32s'])('may be %s', async (text) => {
    expect((await server.send('GET', `${configMaps}?timeout=${text}`)).status).toBe(200);
  });
});

describe('a field selector', () => {
  it.each([
    ['/api/v1/namespaces', 'metadata.namespace=a', [400, 'field label not supported: metadata.namespace']],
    ['/api/v1/nodes', 'metadata.namespace=a', [400, 'field label not supported: metadata.namespace']],
    ['/api/v1/persistentvolumes', 'metadata.namespace=a', [undefined, undefined]],
    ['/api/v1/pods', 'metadata.namespace=a', [undefined, undefined]],
  ])('%s by %s', async (url, selector, expected) => {
    expect(await told('GET', `${url}?fieldSelector=${encodeURIComponent(selector)}`)).toEqual(expected);
  });
});
