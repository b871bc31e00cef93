import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, it } from 'vitest';
import { VirtualClock } from '../../meta/index.ts';
import type { Registry, Resource } from '../../registry/index.ts';
import { gadgetGroup, gadgets } from '../../registry/testing/gadgets.ts';
import { type Fixture, makeFixture } from '../testing/fixture.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

let server: Fixture;
afterEach(() => server.close());

const installed = (registry: Registry): WeakRef<Resource> => new WeakRef(registry.find(gadgetGroup, 'v1', 'gadgets')!);

it('Discovery and OpenAPI release a removed custom resource, also when nobody asks for them again', async () => {
  const clock = new VirtualClock();
  server = await makeFixture({ clock });
  const { registry } = server;
  registry.install(gadgets());
  for (const path of ['/', '/apis', '/openapi/v2', '/openapi/v3', `/apis/${gadgetGroup}/v1`]) {
    expect((await server.send('GET', path, { token: 'admin' })).status).toBe(200);
  }
  const resource = installed(registry);
  registry.remove(gadgetGroup, 'gadgets');
  await clock.advance(10_000, () => Promise.resolve());
  await expect
    .poll(() => {
      collectGarbage();
      return resource.deref() === undefined;
    })
    .toBe(true);
  const apis = (await server.send('GET', '/apis', { token: 'admin' })).json() as { groups: { name: string }[] };
  expect(apis.groups.map(({ name }) => name)).not.toContain(gadgetGroup);
});
