import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fixture, makeFixture } from './testing/fixture.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const applyYaml = { 'content-type': 'application/apply-patch+yaml' };

let server: Fixture;
beforeAll(async () => {
  server = await makeFixture();
});
afterAll(() => server.close());

describe('the refusal of a body', () => {
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
    ['the kind of an apply', 'PATCH', apply, `kind: ${long}`, applyYaml],
  ])('says what is wrong with %s in a few words', async (_, method, url, body, headers) => {
    const answer = await server.send(method, url, { body, headers });
    expect(answer.status).toBe(400);
    expect(answer.text.length).toBeLessThan(5_000);
    expect(answer.text).toContain('...');
  });

  it('shows what is short in full', async () => {
    const body = '{"metadata":{"name":"a","name":"b","odd":1},"bogus":1}';
    const { message } = (await server.send('POST', configMaps + strict, { body })).json() as { message: string };
    expect(message).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "metadata.name", unknown field "metadata.odd", unknown field "bogus"',
    );
  });
});
