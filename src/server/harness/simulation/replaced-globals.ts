import childProcess from 'node:child_process';
import crypto, { type KeyExportOptions, type KeyLike } from 'node:crypto';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import timers from 'node:timers';
import timerPromises from 'node:timers/promises';
import { promisify } from 'node:util';
import workerThreads from 'node:worker_threads';
import { fixedRsaKeys } from './fixed-keys.ts';
import type { Choices } from './seeded-random.ts';
import type { VirtualLoop } from './virtual-loop.ts';
import { virtualTimers } from './virtual-timers.ts';

/** Time and randomness of a simulation, which the globals and the modules of Node have while it runs. */
export interface ReplacedWith {
  readonly loop: VirtualLoop;
  readonly random: Choices;
  /** Receives the error of each refused call, which the caller gets too. */
  readonly refused: (error: Error) => void;
}

let running = false;

/**
 * Replaces what Node leaves to chance while `run` runs: timers, immediates, the time of day, `performance.now`, `Math.random` and
 * the random functions of `crypto`. Sockets, workers, processes and files, whose events would come at real times, are refused
 * with an error that names the caller; a read of a whole file and a signature are done at once, and RSA keys are fixed ones.
 * @throws Error when a simulation runs already
 */
export async function withReplacedGlobals<T>(replaced: ReplacedWith, run: () => Promise<T>): Promise<T> {
  if (running) throw new Error('a process runs one simulation at a time: await the first one');
  running = true;
  const restores: (() => void)[] = [];
  const replace: Replace = (target, values) => {
    for (const [name, value] of Object.entries(values)) {
      const own = Object.getOwnPropertyDescriptor(target, name);
      restores.push(() =>
        own === undefined ? Reflect.deleteProperty(target, name) : Object.defineProperty(target, name, own),
      );
      Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: true });
    }
  };
  try {
    replaceTime(replaced, replace);
    replaceRandomness(replaced, replace);
    refuse(replaced, replace);
    replaceKeys(replaced, replace);
    syncBuiltinESMExports();
    return await run();
  } finally {
    for (const restore of restores.reverse()) restore();
    syncBuiltinESMExports();
    running = false;
  }
}

type Replace = (target: object, values: { readonly [name: string]: unknown }) => void;

function replaceTime({ loop }: ReplacedWith, replace: Replace): void {
  const { functions, promised } = virtualTimers(loop);
  replace(globalThis, functions);
  replace(timers, functions);
  replace(timerPromises, promised);
  replace(performance, { now: () => loop.monotonic() });
  replace(process, {
    hrtime: Object.assign(
      ([seconds, nanos] = [0, 0]) => {
        const ns = BigInt(Math.round(loop.monotonic() * 1e6)) - BigInt(seconds) * 1_000_000_000n - BigInt(nanos);
        return [Number(ns / 1_000_000_000n), Number(ns % 1_000_000_000n)];
      },
      { bigint: () => BigInt(Math.round(loop.monotonic() * 1e6)) },
    ),
  });
  const RealDate = Date;
  const nowOf = () => Math.floor(loop.now());
  replace(RealDate, { now: nowOf });
  replace(globalThis, {
    Date: new Proxy(RealDate, {
      construct: (target, values: unknown[], made) =>
        Reflect.construct(
          target,
          values.length === 0 ? [nowOf()] : values,
          made === globalThis.Date ? target : made,
        ) as object,
      apply: () => new RealDate(nowOf()).toString(),
    }),
  });
  replace(AbortSignal, {
    // That of Node keeps signals with listeners until they are aborted, which those of a killed process never are.
    any: (signals: Iterable<AbortSignal>) => {
      const aborting = new AbortController();
      for (const signal of signals) {
        const abort = () => aborting.abort(signal.reason);
        if (signal.aborted) abort();
        else signal.addEventListener('abort', abort, { once: true });
      }
      return aborting.signal;
    },
    timeout: (ms: number) => {
      const aborting = new AbortController();
      loop.after(ms, () =>
        aborting.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      );
      return aborting.signal;
    },
  });
}

function replaceRandomness({ random }: ReplacedWith, replace: Replace): void {
  const fill = <T extends NodeJS.ArrayBufferView>(view: T, offset = 0, size = view.byteLength - offset): T => {
    new Uint8Array(view.buffer, view.byteOffset + offset, size).set(random.bytes(size));
    return view;
  };
  const integer = (first: number, second?: number | Callback, third?: Callback) => {
    const [low, high] = typeof second === 'number' ? [first, second] : [0, first];
    return called(low + random.integer(high - low), third ?? (typeof second === 'function' ? second : undefined));
  };
  replace(Math, { random: () => random.integer(2 ** 32) / 2 ** 32 });
  replace(crypto, {
    randomUUID: () => random.uuid(),
    randomBytes: (size: number, callback?: Callback) => called(Buffer.from(random.bytes(size)), callback),
    randomInt: integer,
    randomFillSync: fill,
  });
  replace(globalThis.crypto, { randomUUID: () => random.uuid(), getRandomValues: fill });
}

type Callback = (error: undefined, value: unknown) => void;

/** Passes a value on as Node does: returned, or to the callback in a later turn. */
function called(value: unknown, callback: Callback | undefined): unknown {
  if (callback === undefined) return value;
  setImmediate(() => callback(undefined, value));
  return undefined;
}

/** The functions that are refused, by what they belong to. */
const refusedFunctions: readonly (readonly [what: string, target: object, names: readonly string[]])[] = [
  ['a socket', net.Socket.prototype, ['connect']],
  ['a listener', net.Server.prototype, ['listen']],
  ['a socket', dgram, ['createSocket']],
  ['a look-up of names', dns, ['lookup', 'resolve']],
  ['a worker thread', workerThreads, ['Worker']],
  ['a process', childProcess, ['spawn', 'exec', 'execFile', 'fork']],
  ['a request over the network', globalThis, ['fetch']],
  [
    'a file',
    fs,
    ['createReadStream', 'createWriteStream', 'readFile', 'writeFile', 'appendFile', 'open', 'watch', 'watchFile'],
  ],
  ['a file', fs.promises, ['writeFile', 'appendFile', 'open', 'watch', 'rename', 'mkdir', 'rm', 'unlink']],
];

function refuse({ refused }: ReplacedWith, replace: Replace): void {
  for (const [what, target, names] of refusedFunctions) {
    for (const name of names) {
      // A function and not an arrow: some are called with `new`.
      const refusal = function refusal() {
        throw refusalOf(refused, what, name, refusal);
      };
      replace(target, { [name]: refusal });
    }
  }
  // Names of servers and their addresses do not depend on the machine.
  replace(os, { hostname: () => 'simulation', networkInterfaces: () => ({}) });
  // The content of a file that does not change is repeatable; the moment at which an asynchronous read ends is not.
  replace(fs.promises, {
    readFile: async (...values: Parameters<typeof fs.readFileSync>) => fs.readFileSync(...values),
    readdir: async (path: string) => fs.readdirSync(path),
    stat: async (path: string) => fs.statSync(path),
  });
}

/** Reports a refused call, and returns its error. */
function refusalOf(
  refused: ReplacedWith['refused'],
  what: string,
  name: string,
  called: (...values: never[]) => unknown,
): Error {
  const error = new Error(`a simulation cannot use ${what}: ${name} is called by ${callerOf(called)}`);
  refused(error);
  return error;
}

interface KeyOptions {
  readonly modulusLength?: number;
  readonly publicKeyEncoding?: KeyExportOptions<'pem'>;
  readonly privateKeyEncoding?: KeyExportOptions<'pem'>;
}

/** Signatures are made at once instead of in another thread. RSA keys are those of all simulations; others are refused. */
function replaceKeys({ refused }: ReplacedWith, replace: Replace): void {
  const { sign } = crypto;
  const pairOf = (type: string, options: KeyOptions, called: (...values: never[]) => unknown) => {
    if (type !== 'rsa') throw refusalOf(refused, `a random key pair of the type ${type}`, 'generateKeyPair', called);
    const { modulusLength = 2_048, publicKeyEncoding, privateKeyEncoding } = options;
    const { publicKey, privateKey } = fixedRsaKeys(modulusLength);
    return {
      publicKey: publicKeyEncoding === undefined ? publicKey : publicKey.export(publicKeyEncoding),
      privateKey: privateKeyEncoding === undefined ? privateKey : privateKey.export(privateKeyEncoding),
    };
  };
  const generateKeyPairSync = (type: string, options: KeyOptions = {}) => pairOf(type, options, generateKeyPairSync);
  const generateKeyPair = (type: string, options: KeyOptions, callback: (...values: unknown[]) => void) => {
    const { publicKey, privateKey } = pairOf(type, options, generateKeyPair);
    setImmediate(() => callback(null, publicKey, privateKey));
  };
  const promised = async (type: string, options: KeyOptions = {}) => pairOf(type, options, promised);
  Object.defineProperty(generateKeyPair, promisify.custom, { value: promised });
  replace(crypto, {
    generateKeyPair,
    generateKeyPairSync,
    sign: (algorithm: string | null | undefined, data: Uint8Array, key: KeyLike, callback?: Callback) =>
      called(sign(algorithm, data, key), callback),
  });
}

/** The function, file and line that called a replaced function, without the modules of Node. */
function callerOf(called: (...values: never[]) => unknown): string {
  const at: { stack?: string } = {};
  Error.captureStackTrace(at, called);
  const lines = (at.stack ?? '').split('\n').slice(1);
  const caller = lines.find((line) => !line.includes('node:')) ?? lines[0] ?? 'an unknown function';
  return caller.trim().replace(/^at /, '');
}
