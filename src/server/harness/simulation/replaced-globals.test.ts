import { generateKeyPair, generateKeyPairSync, randomUUID, sign, verify } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { withReplacedGlobals } from './replaced-globals.ts';
import { choicesOf } from './seeded-random.ts';
import { simulationStart, VirtualLoop } from './virtual-loop.ts';

/** Runs `main` in a loop of its own, and returns its value with the refusals. */
async function inSimulation<T>(main: (loop: VirtualLoop) => Promise<T>, seed = 1) {
  const loop = new VirtualLoop();
  const refusals: string[] = [];
  const refused = ({ message }: Error) => void refusals.push(message);
  const run = () => loop.run(() => main(loop), 60_000);
  const value = await withReplacedGlobals({ loop, random: choicesOf(seed, 'test'), refused }, run);
  return { value, refusals };
}

it('Timers, dates and durations are those of the virtual loop, and an hour passes at once', async () => {
  const { value } = await inSimulation(async () => {
    const order: string[] = [];
    setTimeout(() => order.push('timeout'), 3_000_000);
    const interval = setInterval(() => order.push('interval'), 1_000_000);
    setImmediate(() => order.push('immediate'));
    const cancelled = setTimeout(() => order.push('never'), 5);
    clearTimeout(cancelled);
    await pause(3_600_000);
    clearInterval(interval);
    const signal = AbortSignal.timeout(10);
    await pause(11);
    return [order, Date.now(), new Date().toISOString(), performance.now(), signal.aborted];
  });
  const now = 3_600_011;
  expect(value).toEqual([
    ['immediate', 'interval', 'interval', 'timeout', 'interval'],
    simulationStart + now,
    '2026-01-01T01:00:00.011Z',
    now,
    true,
  ]);
});

it('A combined signal is aborted by the first of its signals, with its reason', async () => {
  const { value } = await inSimulation(async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const signal = AbortSignal.any([first.signal, second.signal]);
    second.abort('second');
    first.abort('first');
    return [signal.reason, AbortSignal.any([new AbortController().signal, first.signal]).reason];
  });
  expect(value).toEqual(['second', 'first']);
});

it('A run that has ended leaves nothing in memory, even when a process waits for a signal', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const { value } = await inSimulation(async (loop) => {
    const signal = AbortSignal.any([new AbortController().signal]);
    signal.addEventListener('abort', () => loop.fail(new Error('aborted')));
    return new WeakRef(loop);
  });
  await expect
    .poll(() => {
      collectGarbage();
      return value.deref() === undefined;
    })
    .toBe(true);
});

it('Dates keep their class, and other arguments their meaning', async () => {
  const { value } = await inSimulation(async () => [
    new Date() instanceof Date,
    new Date(5).getTime(),
    Date.UTC(2026, 0, 1),
    typeof Date(),
  ]);
  expect(value).toEqual([true, 5, simulationStart, 'string']);
});

it('Random values follow from the seed', async () => {
  const draw = async () => [
    Math.random(),
    randomUUID(),
    crypto.randomUUID(),
    crypto.getRandomValues(new Uint8Array(4)),
  ];
  const [first, again, other] = [await inSimulation(draw), await inSimulation(draw), await inSimulation(draw, 2)];
  expect(first.value).toEqual(again.value);
  expect(first.value).not.toEqual(other.value);
});

it('Sockets, workers, requests and written files are refused with an error that names the caller', async () => {
  const attempts: { readonly [name: string]: () => unknown } = {
    listen: () => createServer().listen(0),
    Worker: () => new Worker('nothing.js'),
    fetch: () => fetch('http://127.0.0.1/'),
    writeFile: () => writeFile('/nowhere/file', ''),
  };
  const { refusals } = await inSimulation(async () => {
    for (const attempt of Object.values(attempts)) {
      try {
        await attempt();
      } catch {
        // The refusal is also passed on.
      }
    }
  });
  expect(refusals).toEqual(
    Object.keys(attempts).map((name) =>
      expect.stringMatching(`${name} is called by .*replaced-globals\\.test\\.ts:\\d+`),
    ),
  );
});

it('RSA keys are the same in every run, and their signatures too', async () => {
  const signed = async () => {
    const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2_048 });
    const signature = await promisify(sign)('sha256', Buffer.from('text'), privateKey);
    const { asymmetricKeyDetails: details } = publicKey;
    const isValid = verify('sha256', Buffer.from('text'), publicKey, signature);
    return { pem: privateKey.export({ type: 'pkcs8', format: 'pem' }), signature, details, isValid };
  };
  const [first, second] = [await inSimulation(signed), await inSimulation(signed, 2)];
  expect(first.value).toMatchObject({ isValid: true, details: { modulusLength: 2_048, publicExponent: 65_537n } });
  expect(second.value).toEqual(first.value);
});

it('Random keys of other types are refused', async () => {
  const { refusals } = await inSimulation(async () => {
    expect(() => generateKeyPairSync('ec', { namedCurve: 'P-256' })).toThrow('a random key pair of the type ec');
  });
  expect(refusals).toEqual([expect.stringMatching(/generateKeyPair is called by .*replaced-globals\.test\.ts:\d+/)]);
});

it('A whole file is read at once', async () => {
  const { value } = await inSimulation(() => readFile(import.meta.filename, 'utf8'));
  expect(value).toContain('A whole file is read at once');
});

it('Afterwards everything is as it was, also after a failure', async () => {
  const before = [setTimeout, Date, Math.random, fetch, Date.now];
  await expect(inSimulation(() => Promise.reject(new Error('as planned')))).rejects.toThrow('as planned');
  expect([setTimeout, Date, Math.random, fetch, Date.now]).toEqual(before);
});

it('A second simulation at the same time is refused', async () => {
  await expect(inSimulation(() => inSimulation(async () => 1))).rejects.toThrow('one simulation at a time');
});

it('A wait for what never happens ends with an error', async () => {
  await expect(inSimulation(() => new Promise(() => {}))).rejects.toThrow('no task is left');
});
