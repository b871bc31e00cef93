import { describe, expect, it } from 'vitest';
import { inTurns, type Json, serverTurns } from '../meta/index.ts';
import { fromGroupList, fromResourceList } from './discovered.ts';
import { openApiV3Hash, partOfOpenApi, renamedRefs } from './openapi.ts';

const group = 'fruit.example.com';
const listOf = (version: object): Json =>
  ({ kind: 'APIGroupDiscoveryList', items: [{ metadata: { name: group }, versions: [version] }] }) as Json;

describe('the discovery document of an extension API server', () => {
  it('contributes the resources of the group version, with known fields only', () => {
    const apples = {
      resource: 'apples',
      responseKind: { group, version: 'v1', kind: 'Apple', more: 1 },
      scope: 'Namespaced',
      singularResource: 'apple',
      verbs: ['get', 1],
      more: true,
    };
    expect(fromGroupList(listOf({ version: 'v1', resources: [apples] }), group, 'v1')).toEqual([
      {
        resource: 'apples',
        responseKind: { group, version: 'v1', kind: 'Apple' },
        scope: 'Namespaced',
        singularResource: 'apple',
        verbs: ['get'],
      },
    ]);
  });

  it.each(['../secrets', '__proto__', 'a/b', 'Apples', '', 'a.b'])('contributes no resource named %j', (resource) => {
    expect(fromGroupList(listOf({ version: 'v1', resources: [{ resource }] }), group, 'v1')).toEqual([]);
  });

  it('is ignored when it is of another kind, lacks the version, or calls it stale', () => {
    expect(fromGroupList({ kind: 'Status' }, group, 'v1')).toBeUndefined();
    expect(fromGroupList(listOf({ version: 'v2', resources: [] }), group, 'v1')).toBeUndefined();
    expect(fromGroupList(listOf({ version: 'v1', freshness: 'Stale' }), group, 'v1')).toBeUndefined();
  });

  it('contributes at most 1,000 resources', () => {
    const resources = Array.from({ length: 1_001 }, (_, i) => ({ resource: `r${i}` }));
    expect(fromGroupList(listOf({ version: 'v1', resources }), group, 'v1')).toHaveLength(1_000);
  });

  it('may be a list of resources, whose subresources are those of the same name', () => {
    const resources = [
      { name: 'apples', singularName: 'apple', namespaced: true, kind: 'Apple', verbs: ['list'] },
      { name: 'apples/peel', kind: 'Peel', verbs: ['create'] },
      { name: 'pears/peel', kind: 'Peel', verbs: ['create'] },
    ];
    expect(fromResourceList({ resources })).toMatchObject([
      { resource: 'apples', scope: 'Namespaced', subresources: [{ subresource: 'peel', verbs: ['create'] }] },
    ]);
  });
});

describe('the OpenAPI document of an extension API server', () => {
  const document = {
    swagger: '2.0',
    paths: {
      [`/apis/${group}/v1/apples`]: { get: { schema: { $ref: '#/definitions/Apple' } } },
      '/api/v1/pods': { get: { schema: { $ref: '#/definitions/Pod' } } },
    },
    definitions: { Apple: { $ref: '#/definitions/Peel' }, Peel: { $ref: '#/definitions/Apple' }, Pod: {} },
  };
  const partOf = async (value: unknown) => {
    const part = await inTurns(partOfOpenApi(Buffer.from(JSON.stringify(value)), group, 'v1'), serverTurns());
    return part && (JSON.parse(Buffer.from(part.json).toString()) as unknown);
  };

  it('contributes the paths of the group version and the definitions that they use', async () => {
    expect(await partOf(document)).toEqual({
      paths: { [`/apis/${group}/v1/apples`]: document.paths[`/apis/${group}/v1/apples`] },
      definitions: { Apple: document.definitions.Apple, Peel: document.definitions.Peel },
    });
  });

  it('contributes the parameters that its operations share, up to 1 MiB', async () => {
    const path = `/apis/${group}/v1/apples`;
    const shared = (name: string) => ({ $ref: `#/parameters/${name}` });
    const large = { name: 'large', in: 'query', description: 'x'.repeat(600 * 1024) };
    const pretty = { name: 'pretty', in: 'query' };
    const paths = {
      [path]: {
        get: { parameters: [shared('pretty'), shared('none'), { name: 'own' }] },
        parameters: [shared('pretty')],
      },
    };
    expect(await partOf({ swagger: '2.0', paths, parameters: { pretty } })).toMatchObject({
      paths: { [path]: { get: { parameters: [pretty, { name: 'own' }] }, parameters: [pretty] } },
    });
    const twice = { [path]: { get: { parameters: [shared('large'), shared('large')] } } };
    const part = await partOf({ swagger: '2.0', paths: twice, parameters: { large } });
    expect(part).toEqual({ paths: { [path]: { get: { parameters: [large] } } }, definitions: {} });
  });

  it('contributes nothing when it is another document', async () => {
    expect(await partOf({ swagger: '3.0' })).toBeUndefined();
    expect(await partOf({ swagger: '2.0', paths: [], definitions: 7 })).toEqual({ paths: {}, definitions: {} });
    await expect(partOf(undefined)).rejects.toThrow(TypeError);
  });

  it('contributes nothing beyond 2 MiB, or 2,000 definitions that it refers to', async () => {
    const path = `/apis/${group}/v1/apples`;
    const part = (get: object) => partOf({ swagger: '2.0', paths: { [path]: { get } } });
    expect(await part({ description: 'x'.repeat(2 * 1024 * 1024 - 200) })).toBeDefined();
    expect(await part({ description: 'x'.repeat(2 * 1024 * 1024) })).toBeUndefined();
    const refs = (count: number) => Array.from({ length: count }, (_, i) => ({ $ref: `#/definitions/d${i}` }));
    expect(await part({ refs: refs(2_000) })).toBeDefined();
    expect(await part({ refs: refs(2_001) })).toBeUndefined();
  });

  it('reads references to parameters and to definitions in steps', () => {
    const steps = (value: object) => {
      const running = partOfOpenApi(Buffer.from(JSON.stringify({ swagger: '2.0', ...value })), group, 'v1');
      let count = 0;
      while (running.next().done !== true) count += 1;
      return count;
    };
    const many = (count: number) => {
      const parameters = Array.from({ length: count }, () => ({ $ref: '#/parameters/none' }));
      return { paths: { [`/apis/${group}/v1/apples`]: { get: { parameters } } } };
    };
    expect(steps(many(40_000))).toBeGreaterThan(1.5 * steps(many(20_000)));
  });

  it('refers to definitions by their new names', async () => {
    const renamed = await inTurns(
      renamedRefs(document.definitions.Apple, new Map([['Peel', 'Peel_v2']])),
      serverTurns(),
    );
    expect(renamed).toEqual({ $ref: '#/definitions/Peel_v2' });
  });

  it('has the hash that its index says, for the group version only', () => {
    const index = { paths: { [`apis/${group}/v1`]: { serverRelativeURL: '/openapi/v3/x?hash=AB12' } } };
    expect(openApiV3Hash(index, group, 'v1')).toBe('AB12');
    expect(openApiV3Hash(index, group, 'v2')).toBeUndefined();
    expect(openApiV3Hash({ paths: [] }, group, 'v1')).toBeUndefined();
  });
});
