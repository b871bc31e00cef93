import { afterEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../meta/index.ts';
import { openMemoryStore, type Store } from '../../store/index.ts';
import { storeWith } from '../../store/testing/store-with.ts';
import { type Fixture, makeFixture, requestOf } from '../testing/fixture.ts';

let fixture: Fixture;
afterEach(() => fixture.close());

const clock = new VirtualClock();
/** How long each commit, and each read of the revision, takes (ms). */
let commitMs = 0;
let revisionMs = 0;

async function open() {
  commitMs = 0;
  revisionMs = 0;
  const inner = openMemoryStore({ clock });
  const store: Store = storeWith(inner, {
    commit: (compares, writes) => {
      clock.set(clock.now() + commitMs);
      return inner.commit(compares, writes);
    },
    revision: () => {
      clock.set(clock.now() + revisionMs);
      return inner.revision();
    },
  });
  fixture = await makeFixture({ clock, store });
}

const path = '/api/v1/namespaces/default/configmaps';
const body = (name: string, data = {}) => ({ metadata: { name }, data });
/** The log by the end of a burst, and of the pause after it. */
function slow() {
  clock.set(clock.now() + 1_000);
  clock.set(clock.now() + 10_000);
  return logged();
}
const logged = () => fixture.warnings.filter(({ text }) => text === 'slow request').map(({ fields }) => fields);

describe('a slow request', () => {
  it('is logged with the time of each stage, and without what was sent', async () => {
    await open();
    commitMs = 700;
    const headers = { 'user-agent': 'kubectl/v1', 'audit-id': 'id-1' };
    await fixture.send('POST', `${path}?fieldManager=secret-query`, {
      body: body('a', { key: 'secret-data' }),
      headers,
    });
    expect(slow()).toEqual([
      {
        ...{ auditID: 'id-1', method: 'POST', verb: 'create', path, user: 'admin', agent: 'kubectl/v1', address: '' },
        ...{ status: 201, size: expect.any(Number), milliseconds: 700, stages: { store: 700 } },
      },
    ]);
    expect(JSON.stringify(fixture.warnings)).not.toMatch(/secret|Bearer|admin-token/);
  });

  it('is one of 500 ms, and of a millisecond more for each 64 KiB of its response', async () => {
    await open();
    await fixture.send('POST', path, { body: body('small') });
    revisionMs = 499;
    await fixture.send('GET', `${path}/small`);
    expect(slow()).toEqual([]);
    revisionMs = 501;
    await fixture.send('GET', `${path}/small`);
    expect(slow()).toMatchObject([{ verb: 'get', milliseconds: 501, stages: { store: 501 } }]);
    for (const name of ['b', 'c', 'd'])
      await fixture.send('POST', path, { body: body(name, { key: 'x'.repeat(200_000) }) });
    const before = slow().length;
    await fixture.send('GET', path);
    expect(slow()).toHaveLength(before);
    revisionMs = 520;
    await fixture.send('GET', path);
    expect(slow().slice(before)).toMatchObject([{ verb: 'list', stages: { store: 520 } }]);
  });

  it('is none of those that last as long as their client wants', async () => {
    await open();
    const { handler } = fixture;
    revisionMs = 800;
    const { body: events } = await handler(requestOf('GET', `${path}?watch=1&timeoutSeconds=1`));
    clock.set(clock.now() + 3_000);
    for await (const _ of events as AsyncIterable<unknown>);
    await fixture.send('GET', '/healthz');
    expect(slow()).toEqual([]);
  });

  it('is one line with others at the same time: the slowest of them', async () => {
    await open();
    const send = (ms: number) => {
      const answers = Array.from({ length: 25 }, () => fixture.handler(requestOf('GET', `${path}/none`)));
      clock.set(clock.now() + ms);
      return Promise.all(answers);
    };
    await send(600);
    await send(700);
    expect(logged()).toEqual([]);
    clock.set(clock.now() + 1_000);
    expect(logged()).toMatchObject([{ milliseconds: 700, others: 49 }]);
    await send(600);
    clock.set(clock.now() + 1_000);
    expect(logged()).toHaveLength(1);
    clock.set(clock.now() + 8_400);
    expect(logged()).toMatchObject([{}, { milliseconds: 600, others: 24 }]);
  });
});
