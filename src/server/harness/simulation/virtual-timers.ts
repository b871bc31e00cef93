import { promisify } from 'node:util';
import type { VirtualLoop } from './virtual-loop.ts';

type Callback = (...values: unknown[]) => void;

/** The longest delay of a timer (ms); timers with a longer one fire at once. */
const longestMs = 2 ** 31 - 1;

const delayOf = (ms: unknown): number => {
  const delay = Number(ms);
  return delay >= 1 && delay <= longestMs ? Math.trunc(delay) : 1;
};

/** A timer or immediate of virtual time, with the methods of Node's. */
class VirtualTimer {
  readonly #loop: VirtualLoop;
  readonly #ms: number;
  readonly #run: () => void;
  readonly #repeats: boolean;
  #cancel: () => void = () => {};
  #referenced = true;

  constructor(loop: VirtualLoop, ms: number, run: () => void, repeats: boolean) {
    this.#loop = loop;
    this.#ms = ms;
    this.#run = run;
    this.#repeats = repeats;
    this.refresh();
  }

  refresh(): this {
    this.#cancel();
    this.#cancel = this.#loop.after(this.#ms, () => {
      if (this.#repeats) this.refresh();
      this.#run();
    });
    return this;
  }

  close(): this {
    this.#cancel();
    return this;
  }

  ref(): this {
    this.#referenced = true;
    return this;
  }

  unref(): this {
    this.#referenced = false;
    return this;
  }

  hasRef(): boolean {
    return this.#referenced;
  }
}

/** `setTimeout` and its family over virtual time: the functions of the globals and of `node:timers`. */
export function virtualTimers(loop: VirtualLoop) {
  const add = (ms: number, repeats: boolean, callback: Callback, values: unknown[]) =>
    new VirtualTimer(loop, ms, () => callback(...values), repeats);
  const setTimeout = (callback: Callback, ms?: number, ...values: unknown[]) =>
    add(delayOf(ms), false, callback, values);
  const setInterval = (callback: Callback, ms?: number, ...values: unknown[]) =>
    add(delayOf(ms), true, callback, values);
  const setImmediate = (callback: Callback, ...values: unknown[]) => add(0, false, callback, values);
  const clear = (timer: unknown) => {
    if (timer instanceof VirtualTimer) timer.close();
  };
  const promised = virtualTimerPromises(loop);
  Object.defineProperty(setTimeout, promisify.custom, { value: promised.setTimeout });
  Object.defineProperty(setImmediate, promisify.custom, { value: promised.setImmediate });
  return {
    functions: {
      setTimeout,
      setInterval,
      setImmediate,
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    },
    promised,
  };
}

interface WaitOptions {
  readonly signal?: AbortSignal;
}

const abortError = (signal: AbortSignal): Error =>
  Object.assign(new Error('The operation was aborted', { cause: signal.reason }), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  });

/** The functions of `node:timers/promises` over virtual time. */
function virtualTimerPromises(loop: VirtualLoop) {
  const wait = <T>(ms: number, value: T, { signal }: WaitOptions = {}): Promise<T> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(abortError(signal));
      const aborted = () => {
        cancel();
        reject(abortError(signal as AbortSignal));
      };
      const cancel = loop.after(ms, () => {
        signal?.removeEventListener('abort', aborted);
        resolve(value);
      });
      signal?.addEventListener('abort', aborted, { once: true });
    });
  return {
    setTimeout: <T>(ms?: number, value?: T, options?: WaitOptions) => wait(delayOf(ms), value, options),
    setImmediate: <T>(value?: T, options?: WaitOptions) => wait(0, value, options),
    async *setInterval<T>(ms?: number, value?: T, options?: WaitOptions) {
      for (;;) yield await wait(delayOf(ms), value, options);
    },
  };
}
