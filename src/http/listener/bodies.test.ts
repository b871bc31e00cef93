import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statusError } from '../../meta/index.ts';
import { type Fixture, makeFixture } from '../testing/fixture.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const yaml = { 'content-type': 'application/yaml' };
const applyYaml = { 'content-type': 'application/apply-patch+yaml' };

let server: Fixture;
beforeAll(async () => {
  server = await makeFixture();
});
afterAll(() => server.close());

describe('the error of an invalid body', () => {
  const long = 'k'.repeat(1_000_000);
  const twice = Array.from({ length: 100 }, (_, i) => `"a${i}":1,"a${i}":2`).join();
  const strict = '?fieldValidation=Strict';
  const apply = `${configMaps}/a?fieldManager=m`;

  it.each([
    ['duplicate fields below a long key', 'POST', configMaps + strict, `{"${long}":{${twice}}}`, {}],
    ['unknown fields with long names', 'POST', configMaps + strict, `{"${long}1":1,"${long}2":2}`, {}],
    ['duplicate and unknown fields', 'POST', configMaps + strict, `{"${long}":{${twice}},"${long}2":2}`, {}],
    ['a long kind', 'POST', configMaps, `{"kind":"${long}"}`, {}],
    ['a long version', 'POST', configMaps, `{"apiVersion":"${long}"}`, {}],
    ['a text of another form', 'POST', configMaps, `{"metadata":{"creationTimestamp":"${long}"}}`, {}],
    ['duplicate keys in YAML', 'POST', configMaps + strict, `? ${long}\n: 1\n? ${long}\n: 2\n`, yaml],
    ['an unknown anchor', 'POST', configMaps, `a: *${long}`, yaml],
    ['a fault in YAML', 'POST', configMaps, `a: |${'1'.repeat(1_000_000)}`, yaml],
    ['the kind of an apply', 'PATCH', apply, `kind: ${long}`, applyYaml],
  ])('says what is wrong with %s in a few words', async (_, method, url, body, headers) => {
    const answer = await server.send(method, url, { body, headers });
    expect(answer.status).toBe(400);
    expect(answer.text.length).toBeLessThan(5_000);
    expect(answer.text).toContain('...');
  });

  it('quotes short names in full', async () => {
    const body = '{"metadata":{"name":"a","name":"b","odd":1},"bogus":1}';
    const { message } = (await server.send('POST', configMaps + strict, { body })).json() as { message: string };
    expect(message).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "metadata.name", unknown field "metadata.odd", unknown field "bogus"',
    );
  });
});

describe('a body in YAML', () => {
  const create = (body: string) => server.send('POST', configMaps, { body, headers: yaml });
  const apply = (body: string) =>
    server.send('PATCH', `${configMaps}/applied?fieldManager=m`, { body, headers: applyYaml });

  it('is decoded at once if it is JSON, otherwise by the YAML thread', async () => {
    const given: [text: string, user: string][] = [];
    const own = await makeFixture({
      readYaml: async (bytes, user) => {
        given.push([Buffer.from(bytes).toString(), user]);
        return { value: { metadata: { name: 'from-yaml' } }, findings: [] };
      },
    });
    const names = [];
    for (const body of ['{"metadata":{"name":"a"}}', '{metadata: {name: b}}']) {
      const answer = await own.send('POST', configMaps, { body, headers: yaml });
      names.push((answer.json() as { metadata: { name: string } }).metadata.name);
    }
    expect(names).toEqual(['a', 'from-yaml']);
    expect(given).toEqual([['{metadata: {name: b}}', 'admin']]);
    await own.close();
  });

  it('is rejected with 429 while too many others wait', async () => {
    const own = await makeFixture({ readYaml: () => Promise.reject(statusError.tooManyRequests('too many wait', 1)) });
    for (const [method, url, headers] of [
      ['POST', configMaps, yaml],
      ['PATCH', `${configMaps}/a?fieldManager=m`, applyYaml],
      ['DELETE', `${configMaps}/a`, yaml],
    ] as const) {
      const answer = await own.send(method, url, { body: 'a: 1', headers });
      expect([answer.status, answer.headers['retry-after']]).toEqual([429, '1']);
      expect(answer.json()).toMatchObject({ reason: 'TooManyRequests', message: 'too many wait' });
    }
    await own.close();
  });

  it('nested beyond the limit is rejected, and the server continues', async () => {
    const nested = `${'- '.repeat(5_000)}a`;
    const answers = await Promise.all([create(nested), create(nested), apply(nested), apply(nested)]);
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    for (const { text } of answers) expect(text).toContain('exceeded max depth');
    expect((await create('metadata:\n  name: after\n')).status).toBe(201);
  });
});
