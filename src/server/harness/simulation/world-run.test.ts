import { expect, it } from 'vitest';
import type { ApiObject } from '../../../meta/index.ts';
import { runWorld } from './simulate.ts';
import type { OwnWorld } from './world.ts';

/** One server and one client that carries out the operations in order, without faults. */
const smallWorld = (parts: OwnWorld): OwnWorld => ({
  servers: 1,
  clients: 1,
  duration: '5s',
  plan: {
    operations: Object.keys(parts.operations ?? {}).map((run, i) => ({
      at: 100 * i,
      client: 'client-1',
      run,
      seed: 1,
    })),
    faults: [],
  },
  ...parts,
});

it('Tokens of service accounts are issued and reviewed, the same in every run', async () => {
  const accounts = { apiVersion: 'v1', resource: 'serviceaccounts', namespace: 'default' };
  const reviews = { apiVersion: 'authentication.k8s.io/v1', resource: 'tokenreviews' };
  const tokens: unknown[] = [];
  const world = smallWorld({
    operations: {
      token: async ({ client }) => {
        await client.create(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } });
        const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} };
        const place = { ...accounts, name: 'robot', subresource: 'token' };
        const { status } = await client.create<ApiObject>(place, request as unknown as ApiObject);
        const { token } = status as { readonly token: string };
        const review = { apiVersion: reviews.apiVersion, kind: 'TokenReview', metadata: {}, spec: { token } };
        tokens.push(token, (await client.create<ApiObject>(reviews, review))['status']);
      },
    },
  });
  const [first, second] = [await runWorld(1, world), await runWorld(1, world)];
  expect(first.failures).toEqual([]);
  expect(tokens[1]).toMatchObject({ authenticated: true, user: { username: 'system:serviceaccount:default:robot' } });
  expect(second.digest).toBe(first.digest);
  expect(tokens.slice(2)).toEqual(tokens.slice(0, 2));
});

it('Reads and watches of namespaces are compared with the stored namespaces', async () => {
  const namespaces = { apiVersion: 'v1', resource: 'namespaces' };
  const world = smallWorld({
    operations: {
      read: async ({ client }) => {
        const { metadata } = await client.get<ApiObject>({ ...namespaces, name: 'default' });
        await client.patch<ApiObject>({ ...namespaces, name: 'default' }, 'merge', {
          metadata: { labels: { a: 'b' } },
        });
        const { resourceVersion = '' } = metadata;
        const selection = { resourceVersion, fieldSelector: 'metadata.name=default' };
        for await (const { type } of await client.watch(namespaces, selection)) if (type === 'MODIFIED') break;
      },
    },
  });
  expect((await runWorld(1, world)).failures).toEqual([]);
});

it('A property at rest may take longer to hold than operations may take to end', async () => {
  const rest = (until: number) =>
    runWorld(
      1,
      smallWorld({
        settle: '5m',
        atRest: { 'time has passed': (_, { clock }) => clock.monotonic() > until },
      }),
    );
  expect((await rest(200_000)).failures).toEqual([]);
  const { failures } = await rest(Number.POSITIVE_INFINITY);
  expect(failures).toEqual([{ rule: 'time has passed', message: 'it does not hold' }]);
});
