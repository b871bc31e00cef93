import { describe, expect, it } from 'vitest';
import { representObject } from './representation.ts';
import { bench, failure } from './testing/fixtures.ts';

describe('virtual resources that can be read', () => {
  it('give each object by its name', async () => {
    const { read } = bench();
    expect(await read('gauges', 'b')).toEqual({
      kind: 'Gauge',
      apiVersion: 'v1',
      metadata: { name: 'b' },
      level: 'high b',
    });
    expect(await failure(read('gauges', 'c'))).toMatchObject({ code: 404, message: 'gauges "c" not found' });
  });

  it('list what is chosen', async () => {
    const { names } = bench();
    expect((await names('gauges')).list).toEqual({
      kind: 'GaugeList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '0' },
      items: [
        { metadata: { name: 'a' }, level: 'high a' },
        { metadata: { name: 'b' }, level: 'high b' },
      ],
    });
    expect((await names('gauges', { fieldSelector: 'metadata.name=b' })).names).toEqual(['b']);
    expect((await names('gauges', { fieldSelector: 'metadata.name!=b' })).names).toEqual(['a']);
    expect((await names('gauges', { labelSelector: 'app=x' })).names).toEqual([]);
  });

  it('have rows and metadata like others', async () => {
    const { registry, target } = bench();
    const at = target('gauges', { name: 'a' });
    const shown = async (view: Parameters<typeof representObject>[2]) =>
      JSON.parse(representObject(at, await registry.get(at, {}), view)) as unknown;
    expect(await shown({ as: 'metadata', version: 'v1' })).toMatchObject({ metadata: { name: 'a' } });
    expect(await shown({ as: 'table', version: 'v1', includeObject: 'Metadata', now: 0 })).toMatchObject({
      rows: [{ cells: ['a', null], object: { metadata: { name: 'a' } } }],
    });
  });

  it('are not served when nobody lists them', async () => {
    const { names } = bench({ virtualLists: new Map() });
    expect(await failure(names('gauges'))).toMatchObject({ code: 501 });
  });
});
