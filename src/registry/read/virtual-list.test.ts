import { describe, expect, it } from 'vitest';
import { bench, failure } from '../testing/fixtures.ts';
import { representObject } from './representation.ts';

describe('virtual resources that can be read', () => {
  it('return an object by name', async () => {
    const { read } = bench();
    expect(await read('gauges', 'b')).toEqual({
      kind: 'Gauge',
      apiVersion: 'v1',
      metadata: { name: 'b' },
      level: 'high b',
    });
    expect(await failure(read('gauges', 'c'))).toMatchObject({ code: 404, message: 'gauges "c" not found' });
  });

  it('list the matching objects', async () => {
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

  it('have table rows and partial metadata', async () => {
    const { registry, target } = bench();
    const at = target('gauges', { name: 'a' });
    const shown = async (view: Parameters<typeof representObject>[2]) =>
      JSON.parse(representObject(at, await registry.get(at, {}), view)) as unknown;
    expect(await shown({ as: 'metadata', version: 'v1' })).toMatchObject({ metadata: { name: 'a' } });
    expect(await shown({ as: 'table', version: 'v1', includeObject: 'Metadata', now: 0 })).toMatchObject({
      rows: [{ cells: ['a', null], object: { metadata: { name: 'a' } } }],
    });
  });

  it('fail with 501 without a list function', async () => {
    const { names } = bench({ virtualLists: new Map() });
    expect(await failure(names('gauges'))).toMatchObject({ code: 501 });
  });
});
