import { describe, expect, it } from 'vitest';
import { inTurns, serverTurns } from '../../meta/index.ts';
import { convertedFields } from './openapi-converted.ts';

const converted = async (text: string) => {
  const { paths, schemas } = await inTurns(convertedFields({ hash: '', json: Buffer.from(text) }), serverTurns());
  return { paths: Object.fromEntries(paths), schemas: Object.fromEntries(schemas) };
};

describe('an OpenAPI v2 document of an extension API server, converted to v3', () => {
  it.each(['7', '[]', '{"paths":7,"definitions":[]}', '{"paths":{"/a":7},"definitions":{"A":null}}'])(
    'contributes nothing when it is %s',
    async (text) => {
      expect(await converted(text)).toEqual({ paths: {}, schemas: {} });
    },
  );

  it('keeps keys such as __proto__ as data', async () => {
    const { schemas } = await converted('{"definitions":{"A":{"__proto__":{"$ref":"#/definitions/B"}}}}');
    expect(JSON.stringify(schemas)).toBe('{"A":{"__proto__":{"$ref":"#/components/schemas/B"}}}');
    expect(({} as { $ref?: string }).$ref).toBeUndefined();
  });

  it('has the schema of a body for its first 8 media types, and for JSON without any', async () => {
    const operation = { produces: Array.from({ length: 9 }, (_, i) => `a/${i}`), responses: { 200: { schema: {} } } };
    const document = { paths: { '/a': { get: operation, put: { ...operation, produces: 7 } } } };
    const { get, put } = (await converted(JSON.stringify(document))).paths['/a'] as never as {
      [method: string]: { responses: { 200: { content: object } } };
    };
    expect(Object.keys(get?.responses[200].content ?? {})).toHaveLength(8);
    expect(Object.keys(put?.responses[200].content ?? {})).toEqual(['application/json']);
  });

  it('has no parameters that are bodies, forms or references', async () => {
    const parameters = [{ in: 'body' }, { in: 'formData', name: 'a' }, { $ref: '#/parameters/b' }, 7, { in: 'query' }];
    const { paths } = await converted(JSON.stringify({ paths: { '/a': { parameters } } }));
    expect(paths['/a']).toEqual({ parameters: [{ name: '', in: 'query', schema: {} }] });
  });
});
