import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { startHook } from '../../../test/support/hook.ts';
import type { ByteString } from '../../meta/index.ts';
import { registeredWebhooks } from './registered-webhooks.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const body = '{"a":"b"}' as ByteString;

function webhooks() {
  const made = registeredWebhooks({ locateService: () => Promise.reject(new Error('no services')) });
  open.push(made);
  return made;
}

async function hookOf(...given: Parameters<typeof startHook>) {
  const hook = await startHook(...given);
  open.push(hook);
  return { hook, registration: { url: `${hook.url}/x`, caBundle: hook.caBundle } };
}

const pemOf = ({ caBundle }: { readonly caBundle: string }) => Buffer.from(caBundle, 'base64').toString();

it('returns the body of the response; the timeout is part of the URL', async () => {
  const { hook, registration } = await hookOf(({ review }) => ({ seen: review }));
  const answer = await webhooks().postTo(registration, 16)(body, 7_000);
  expect(JSON.parse(Buffer.from(answer).toString())).toEqual({ seen: { a: 'b' } });
  expect(hook.calls[0]).toMatchObject({ method: 'POST', url: '/x?timeout=7s', type: 'application/json' });
});

it('gives up after the timeout', async () => {
  const { hook, registration } = await hookOf(() => new Promise(() => {}));
  const why = `Post "${hook.url}/x?timeout=1s": context deadline exceeded`;
  await expect(webhooks().postTo(registration, 16)(body, 50)).rejects.toThrow(why);
});

it('counts the time for a connection, and in the queue, as a part of the timeout', async () => {
  // Accepts connections, and never shakes hands.
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  open.push(silent);
  const { port } = silent.address() as AddressInfo;
  const post = webhooks().postTo({ url: `https://127.0.0.1:${port}` }, 16);
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => post(body, 50)));
  expect(new Set(outcomes.map((one) => (one.status === 'rejected' ? (one.reason as Error).message : '')))).toEqual(
    new Set([`Post "https://127.0.0.1:${port}?timeout=1s": context deadline exceeded`]),
  );
});

it('refuses responses of one webhook that are more than half of what is received at a time', async () => {
  const text = ' '.repeat(3.5 * 1024 * 1024);
  const { registration } = await hookOf(() => ({ status: 200, text, endless: true }));
  const other = await hookOf(() => ({ a: 'b' }));
  const made = webhooks();
  const reasons: string[] = [];
  const posts = Array.from({ length: 24 }, () =>
    made
      .postTo(registration, 32)(body, 60_000)
      .catch((error: Error) => reasons.push(error.message)),
  );
  await expect.poll(() => reasons).not.toEqual([]);
  expect(reasons[0]).toContain('too many bytes of responses of webhooks are arriving');
  expect(await made.postTo(other.registration, 16)(body, 60_000)).toHaveLength(9);
  made.close();
  await Promise.all(posts);
});

it('refuses responses of more than 4 MiB', async () => {
  let text = ' '.repeat(4 * 1024 * 1024);
  const { registration } = await hookOf(() => ({ status: 200, text }));
  const post = webhooks().postTo(registration, 16);
  expect(await post(body, 60_000)).toHaveLength(text.length);
  text += ' ';
  await expect(post(body, 60_000)).rejects.toThrow('more than 4194304 bytes');
});

it('refuses responses of the webhook of a kubeconfig that have more than 256 KiB, because they are read in one step', async () => {
  let text = '';
  const { hook } = await hookOf(() => ({ status: 200, text }));
  const user = { cert: undefined, key: undefined, authorization: undefined };
  const config = { url: new URL(hook.url), ca: pemOf(hook), serverName: undefined, skipVerify: false, ...user };
  const post = webhooks().open(config, 4);
  text = ' '.repeat(256 * 1024);
  expect(await post(body, 60_000)).toHaveLength(256 * 1024);
  text += ' ';
  await expect(post(body, 60_000)).rejects.toThrow('more than 262144 bytes');
});

it('sends no more requests at a time than it may, and the others after them', async () => {
  const { hook, registration } = await hookOf(() => new Promise((resolve) => setImmediate(resolve, {})));
  const made = webhooks();
  const user = { cert: undefined, key: undefined, authorization: undefined };
  const config = { url: new URL(hook.url), ca: pemOf(hook), serverName: undefined, skipVerify: false, ...user };
  const ways = [made.postTo(registration, 4), made.open(config, 4)];
  for (const [i, post] of ways.entries()) {
    await Promise.all(Array.from({ length: 40 }, () => post(body, 30_000)));
    expect([hook.calls.length, hook.most()]).toEqual([40 * (i + 1), 4]);
  }
});

it('aborts its requests when it is closed, and sends no more', async () => {
  let called = () => {};
  const calling = new Promise<void>((resolve) => {
    called = resolve;
  });
  const { hook, registration } = await hookOf(() => {
    called();
    return new Promise(() => {});
  });
  const made = webhooks();
  const post = made.postTo(registration, 16);
  const first = expect(post(body, 30_000)).rejects.toThrow('context deadline exceeded');
  await calling;
  made.close();
  await first;
  await expect(post(body, 30_000)).rejects.toThrow('context deadline exceeded');
  expect(hook.calls).toHaveLength(1);
});

it('uses one connection for the requests of a registration, one after another', async () => {
  const { hook, registration } = await hookOf(() => ({}));
  const made = webhooks();
  for (let i = 0; i < 3; i++) await made.postTo({ ...registration }, 16)(body, 30_000);
  expect([hook.calls.length, hook.connections()]).toEqual([3, 1]);
});

it('sends the credentials for the host, over connections of their own', async () => {
  const { hook, registration } = await hookOf(() => ({}));
  const made = webhooks();
  const asked: string[] = [];
  const credentials = {
    path: 'users',
    userFor: (host: string, port: string) => {
      asked.push(`${host}:${port}`);
      return { cert: undefined, key: undefined, authorization: () => Promise.resolve('Bearer t') };
    },
  };
  await made.postTo(registration, 16)(body, 30_000);
  await made.postTo(registration, 16, credentials)(body, 30_000);
  expect(hook.calls.map(({ authorization }) => authorization)).toEqual([undefined, 'Bearer t']);
  expect([asked, hook.connections()]).toEqual([[`${hook.host}:${hook.port}`], 2]);
});
