import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../meta/index.ts';
import { makeFixture } from './testing/fixture.ts';

// Responses to faulty patches: texts and codes are those of the reference server's patch handler.

const fixture = await makeFixture({
  authorize: ({ user, verb }) => ({ allowed: user.name === 'jane' && ['patch', 'update'].includes(verb), reason: '' }),
});
afterAll(() => fixture.close());

const types = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;
type Format = keyof typeof types;

const maps = '/api/v1/namespaces/default/configmaps';
const map = (data: Json, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', ...metadata },
  data,
});

async function send(format: Format, body: string | Json, query = '', name = 'c', token = 'admin') {
  const sent = query === '' && format === 'apply' ? '?fieldManager=m' : query;
  const headers = { 'content-type': types[format] };
  const answer = await fixture.send('PATCH', `${maps}/${name}${sent}`, { token, headers, body });
  const warning = answer.headers['warning'] ?? [];
  return { status: answer.status, body: answer.json() as JsonObject, warnings: [warning].flat() };
}

beforeEach(async () => {
  await fixture.send('DELETE', `${maps}/c`);
  await fixture.send('POST', maps, { body: map({ a: '1' }) });
});

describe('a malformed patch', () => {
  const notObject = (type: string) => `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
  it.each<[Format, string, string, string]>([
    ['json', '', '', 'error decoding patch: unexpected end of JSON input'],
    ['json', '[{"op":', '', 'error decoding patch: unexpected end of JSON input'],
    ['json', '[{"op":', '?fieldValidation=Ignore', 'unexpected end of JSON input'],
    [
      'json',
      '{}',
      '',
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    ],
    [
      'json',
      '["x"]',
      '',
      'error decoding patch: json: cannot unmarshal string into Go value of type handlers.jsonPatchOp',
    ],
    [
      'json',
      '[{"op":1}]',
      '',
      'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string',
    ],
    ['merge', '', '', 'error decoding patch: unexpected end of JSON input'],
    ['merge', '[1]', '', `error decoding patch: ${notObject('array')}`],
    ['merge', '"x"', '', `error decoding patch: ${notObject('string')}`],
    ['merge', 'null', '', 'Invalid JSON Patch'],
    ['merge', '{', '?fieldValidation=Ignore', 'Invalid JSON Patch'],
    ['strategic', '', '', 'unexpected end of JSON input'],
    ['strategic', '[1]', '', notObject('array')],
    ['strategic', 'true', '', notObject('bool')],
    ['apply', '', '', 'invalid object type: /, Kind='],
    ['apply', 'null', '', 'invalid object type: /, Kind='],
    ['apply', '- a', '', `error decoding YAML: error unmarshaling JSON: while decoding JSON: ${notObject('array')}`],
  ])('%s %s %s', async (format, body, query, message) => {
    const { status, body: answer } = await send(format, body, query);
    expect({ status, reason: answer['reason'], message: answer['message'] }).toEqual({
      status: 400,
      reason: 'BadRequest',
      message,
    });
  });

  it.each<[Format, string]>([
    ['json', 'null'],
    ['json', '[]'],
    ['merge', '{}'],
    ['strategic', 'null'],
    ['strategic', '{}'],
  ])('%s %s changes nothing', async (format, body) => {
    const before = (await fixture.send('GET', `${maps}/c`)).json();
    expect(await send(format, body)).toMatchObject({ status: 200, body: before as JsonObject });
  });

  it.each<Format>(['json', 'merge', 'strategic'])('is 404 when the object is missing: %s', async (format) => {
    const { status, body } = await send(format, '[{', '', 'absent');
    expect([status, body['message']]).toEqual([404, 'configmaps "absent" not found']);
  });
});

describe('unknown and duplicate fields', () => {
  const json = '[{"op":"add","op":"add","path":"/data/b","value":"2","more":1}]';
  const merge = '{"data":{"b":"1","b":"2"},"more":1}';
  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {b: "1", b: "2", c: "1", c: "2"}\n';
  const cases: [Format, string, string[]][] = [
    ['json', json, ['json patch duplicate field "[0].op"', 'json patch unknown field "[0].more"']],
    [
      'json',
      '[{"op":"test","path":"/data/a","value":"1","odd":1},{"op":"add","op":"add","path":"/data/b","value":"2"}]',
      ['json patch unknown field "[0].odd"', 'json patch duplicate field "[1].op"'],
    ],
    ['json', '[{"op":"add","path":"/more","value":1}]', ['unknown field "more"']],
    [
      'merge',
      '{"odd":1,"more":1,"metadata":{"own":1}}',
      ['metadata.own', 'more', 'odd'].map((x) => `unknown field "${x}"`),
    ],
    ['merge', merge, ['duplicate field "data.b"', 'unknown field "more"']],
    ['strategic', merge, ['duplicate field "data.b"', 'unknown field "more"']],
  ];
  it.each(cases)('warn in %s %s', async (format, body, odd) => {
    const { status, warnings } = await send(format, body);
    expect([status, warnings]).toEqual([200, odd.map((text) => `299 - ${JSON.stringify(text)}`)]);
  });
  it.each(cases)('are ignored with fieldValidation=Ignore: %s %s', async (format, body) => {
    expect(await send(format, body, '?fieldValidation=Ignore')).toMatchObject({ status: 200, warnings: [] });
  });
  it.each(cases)('are rejected with fieldValidation=Strict: %s %s', async (format, body, odd) => {
    const { status, body: answer } = await send(format, body, '?fieldValidation=Strict');
    expect([status, answer['reason']]).toEqual([422, 'Invalid']);
    const { details, message } = answer as { details: { causes: JsonObject[] }; message: string };
    expect(message.startsWith(' "" is invalid: patch: Invalid value: "')).toBe(true);
    expect(message.endsWith(`": strict decoding error: ${odd.join(', ')}`)).toBe(true);
    expect(details.causes).toMatchObject([{ reason: 'FieldValueInvalid', field: 'patch' }]);
  });
  it('are reported in an apply configuration with a duplicate key', async () => {
    const lines = ['line 4: key "b" already set in map', 'line 4: key "c" already set in map'];
    const text = ['error converting YAML to JSON: yaml: unmarshal errors:', ...lines].join('\n  ');
    const strict = await send('apply', yaml, '?fieldManager=m&fieldValidation=Strict');
    expect([strict.status, strict.body['message']]).toEqual([400, `error strict decoding YAML: ${text}`]);
    expect((await send('apply', yaml)).warnings).toEqual(lines.map((line) => `299 - ${JSON.stringify(line)}`));
  });
});

describe('a patch of immutable metadata', () => {
  const merges: Format[] = ['merge', 'strategic'];
  it.each(merges)('of another name: %s', async (format) => {
    const { status, body } = await send(format, { metadata: { name: 'd' } });
    expect([status, body['message']]).toEqual([
      400,
      'the name of the object (d) does not match the name on the URL (c)',
    ]);
  });
  it.each(merges)('of no name: %s', async (format) => {
    const { status, body } = await send(format, { metadata: { name: null } });
    const message = 'the name of the object (c based on URL) was undeterminable: name must be provided';
    expect([status, body['message']]).toEqual([400, message]);
  });
  it.each(merges)('of another namespace: %s', async (format) => {
    const { status, body } = await send(format, { metadata: { namespace: 'other' } });
    const message = 'the namespace of the provided object does not match the namespace sent on the request';
    expect([status, body['message']]).toEqual([400, message]);
  });
  it.each(merges)('with another uid: %s', async (format) => {
    const { status, body } = await send(format, { metadata: { uid: 'u' } });
    expect([status, body['message']]).toEqual([
      422,
      'ConfigMap "c" is invalid: metadata.uid: Invalid value: "u": field is immutable',
    ]);
  });
  it.each(merges)('of another time: %s', async (format) => {
    const { status, body } = await send(format, { metadata: { resourceVersion: '1' } });
    expect([status, body['reason']]).toEqual([409, 'Conflict']);
  });
  it('reports the resulting errors in order', async () => {
    const ops = [{ op: 'add', path: '/metadata/labels', value: 'text' }];
    const { status, body } = await send('json', ops);
    expect(status).toBe(422);
    expect(body['message']).toContain('\\"metadata\\":{\\"creationTimestamp\\":');
    expect(body['message']).toContain('json: cannot unmarshal string into Go struct field');
  });
});

describe('options', () => {
  it.each<[Format, string, string]>([
    ['merge', '?force=true', 'force: Forbidden: may not be specified for non-apply patch'],
    ['strategic', '?force=false', 'force: Forbidden: may not be specified for non-apply patch'],
    ['merge', `?fieldManager=${'x'.repeat(129)}`, 'fieldManager: Too long: may not be more than 128 bytes'],
    ['merge', '?fieldManager=%01', ': invalid character U+0001 (at position 0)'],
    ['merge', '?fieldManager=%C3%A4%C2%A0', ': invalid character U+00A0 (at position 2)'],
    ['merge', `?fieldManager=${'%C3%A4'.repeat(65)}`, 'fieldManager: Too long: may not be more than 128 bytes'],
    ['apply', '?force=true', 'fieldManager: Required value: is required for apply patch'],
    ['json', '?dryRun=Some', 'dryRun: Unsupported value: ["Some"]: supported values: "All"'],
  ])('%s %s', async (format, query, message) => {
    const { status, body } = await send(format, format === 'json' ? [] : map({}), query);
    expect(status).toBe(422);
    expect(body['message']).toMatch(/^PatchOptions\.meta\.k8s\.io "" is invalid: (fieldManager|force|dryRun): /);
    expect((body['message'] as string).endsWith(message)).toBe(true);
  });

  it.each(['application/json', 'text/plain', 'application/apply-patch+cbor'])('%s is not a patch', async (type) => {
    const answer = await fixture.send('PATCH', `${maps}/c`, { headers: { 'content-type': type }, body: {} });
    const { message, reason } = answer.json() as JsonObject;
    expect([answer.status, reason, message]).toEqual([415, 'UnsupportedMediaType', '415: Unsupported Media Type']);
  });
});

describe('an apply or update that creates is authorized for the verb create', () => {
  const forbidden = (name: string, resource = 'configmaps', group = '') =>
    `${group === '' ? resource : `${resource}.${group}`} "${name}" is forbidden: User "jane" cannot create resource "${resource}" in API group "${group}" in the namespace "default"`;

  it('is forbidden for a missing object, and allowed for an existing one', async () => {
    const refused = await send('apply', map({}, { name: 'fresh' }), '', 'fresh', 'jane');
    expect([refused.status, refused.body['reason'], refused.body['message']]).toEqual([
      403,
      'Forbidden',
      forbidden('fresh'),
    ]);
    expect((await fixture.send('GET', `${maps}/fresh`)).status).toBe(404);
    expect((await send('apply', map({ b: '1' }), '', 'c', 'jane')).status).toBe(200);
  });

  it('is forbidden with dry run too', async () => {
    const query = '?fieldManager=m&dryRun=All';
    expect((await send('apply', map({}, { name: 'fresh' }), query, 'fresh', 'jane')).status).toBe(403);
  });

  it('is forbidden for an update that creates', async () => {
    const url = '/apis/coordination.k8s.io/v1/namespaces/default/leases/l';
    const body = { metadata: { name: 'l' }, spec: {} };
    const refused = await fixture.send('PUT', url, { token: 'jane', body });
    const { message } = refused.json() as JsonObject;
    expect([refused.status, message]).toEqual([403, forbidden('l', 'leases', 'coordination.k8s.io')]);
    const made = await fixture.send('PUT', url, { body });
    expect(made.status).toBe(201);
    expect((await fixture.send('PUT', url, { token: 'jane', body: made.json() })).status).toBe(200);
  });
});

describe('duplicate owner references', () => {
  const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid });
  const advice =
    'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u';
  it('are dropped with a warning', async () => {
    const ownerReferences = [owner('u'), owner('v'), owner('u')];
    const made = await fixture.send('POST', `${maps}?dryRun=All`, { body: map({}, { name: 'd', ownerReferences }) });
    expect((made.json() as JsonObject)['metadata']).toMatchObject({ ownerReferences: [owner('u'), owner('v')] });
    expect([made.headers['warning']].flat()).toEqual([
      `299 - ".metadata.ownerReferences contains duplicate entries; ${advice}"`,
    ]);
    const patched = await send('merge', { metadata: { ownerReferences } });
    expect(patched.body['metadata']).toMatchObject({ ownerReferences: [owner('u'), owner('v')] });
    expect(patched.warnings).toEqual([
      `299 - ".metadata.ownerReferences contains duplicate entries after mutating admission happens; ${advice}"`,
    ]);
  });
});
