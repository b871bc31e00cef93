import { expect, it } from 'vitest';
import { namesFor } from '../meta/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import type { APIService } from '../types/apiregistration-v1.ts';
import { Aggregator, type Ask } from './aggregator.ts';
import { Registrations } from './registrations.ts';

const apiService = (version: string, name: string) =>
  ({
    metadata: { name: `${version}.example.com` },
    spec: { group: 'example.com', version, service: { namespace: 'n', name, port: 443 } },
  }) as APIService;

/** An aggregator of APIServices that are available, whose Services answer with an empty list of resources. */
function aggregating(services: { readonly [version: string]: string }) {
  const registrations = new Registrations(new Map(), new Set());
  const asked: { service: string; path: string; maxBytes: number | undefined; owner: string | undefined }[] = [];
  const open: string[] = [];
  let most = 0;
  const ask: Ask = async ({ name: service }, _, { path, maxBytes }, { owner }) => {
    asked.push({ service, path, maxBytes, owner });
    if (maxBytes !== undefined) open.push(service);
    most = Math.max(most, open.length);
    await new Promise(setImmediate);
    if (maxBytes !== undefined) open.splice(open.indexOf(service), 1);
    return { status: 200, etag: '', body: Buffer.from('{"resources":[]}') };
  };
  const aggregator = new Aggregator({
    registrations,
    clock: drivenClock(),
    names: namesFor('k8s.io'),
    ask,
    locate: async () => ({ host: 'x', port: '443' }),
    servesServices: () => false,
    findService: async () => undefined,
    findSlices: async () => [],
    disconnect: () => {},
    writeCondition: async (name, condition) => {
      const version = name.slice(0, name.indexOf('.'));
      registrations.set(name, { ...apiService(version, services[version] ?? ''), status: { conditions: [condition] } });
    },
    report: (text) => expect.fail(text),
  });
  for (const [version, service] of Object.entries(services)) {
    registrations.set(`${version}.example.com`, apiService(version, service));
    aggregator.changed(`${version}.example.com`);
  }
  const learned = () => [...registrations.remotes.values()].filter(({ documents }) => documents !== undefined).length;
  return { asked, learned, most: () => most };
}

it('reads the documents of at most four servers at a time', async () => {
  const names = ['a', 'a', 'a', 'b', 'c', 'd', 'e', 'f'];
  const { learned, most } = aggregating(Object.fromEntries(names.map((name, i) => [`v${i + 1}`, name])));
  await expect.poll(learned).toBe(names.length);
  expect(most()).toBe(4);
});

it('does not read the answer to a check, nor any answer in the turns of the server', async () => {
  const { asked, learned } = aggregating({ v1: 'a' });
  await expect.poll(learned).toBe(1);
  const [check, ...others] = asked;
  expect(check).toMatchObject({ path: '/apis/example.com/v1', maxBytes: undefined });
  expect(others.every(({ maxBytes }) => maxBytes !== undefined)).toBe(true);
  expect(new Set(asked.map(({ owner }) => owner))).toEqual(new Set(['answers of extension API servers']));
});
