import { describe, expect, it } from 'vitest';
import { createClient } from '../../client/index.ts';
import { type Json, namesFor } from '../../meta/index.ts';
import { Discovery } from './discovery.ts';

const resource = (name: string, kind: string, scope = 'Namespaced') => ({
  resource: name,
  responseKind: { kind },
  scope,
  singularResource: '',
  verbs: ['get', 'list'],
});
const core = [{ metadata: { name: '' }, versions: [{ version: 'v1', resources: [resource('pods', 'Pod')] }] }];
const groups = [
  {
    metadata: { name: 'example.com' },
    versions: [
      { version: 'v2', resources: [resource('nests', 'Nest')], freshness: 'Current' },
      {
        version: 'v1',
        resources: [
          resource('nests', 'Nest'),
          resource('trees', 'Tree', 'Cluster'),
          // Served for its subresources only.
          { resource: 'leaves', scope: 'Namespaced', singularResource: '', verbs: [] },
        ],
      },
    ],
  },
  { metadata: { name: 'metrics.example.com' }, versions: [{ version: 'v1', resources: [], freshness: 'Stale' }] },
];

/** Discovery of a server whose `/apis` has these groups, with an ETag of its own for each value. */
function serving(apis: () => { readonly items: Json; readonly etag: string }) {
  const sent: string[] = [];
  const client = createClient({
    transport: ({ url, headers }) => {
      const { items, etag } = url === '/api' ? { items: core, etag: '"core"' } : apis();
      const matches = headers['if-none-match'] === etag;
      sent.push(`${url} ${matches ? 304 : 200}`);
      const bytes = (async function* () {
        yield await Promise.resolve(
          Buffer.from(matches ? '' : JSON.stringify({ kind: 'APIGroupDiscoveryList', items })),
        );
      })();
      return Promise.resolve({ status: matches ? 304 : 200, headers: { etag }, body: bytes });
    },
  });
  return { sent, discovery: new Discovery(client, namesFor('k8s.io')) };
}

describe('discovery', () => {
  it('has each resource in the preferred version, and each kind in all of its versions', async () => {
    const { discovery } = serving(() => ({ items: groups, etag: '"1"' }));
    const { preferred, find, stale } = await discovery.read();
    expect(preferred.map(({ apiVersion, resource: name, namespaced }) => [apiVersion, name, namespaced])).toEqual([
      ['v1', 'pods', true],
      ['example.com/v2', 'nests', true],
      ['example.com/v1', 'trees', false],
    ]);
    expect(find('example.com/v1', 'Nest')).toMatchObject({ apiVersion: 'example.com/v1', resource: 'nests' });
    expect(find('example.com/v3', 'Nest')).toBeUndefined();
    expect(find('constructor', '__proto__')).toBeUndefined();
    expect(stale).toEqual(['metrics.example.com/v1']);
  });

  it('is the same value until something changes', async () => {
    let etag = '"1"';
    const { discovery, sent } = serving(() => ({ items: groups, etag }));
    const first = await discovery.read();
    expect(await discovery.read()).toBe(first);
    expect(sent).toEqual(['/api 200', '/apis 200', '/api 304', '/apis 304']);
    etag = '"2"';
    const second = await discovery.read();
    expect(second).not.toBe(first);
    expect(discovery.served).toBe(second);
  });
});
