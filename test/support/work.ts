import { Session } from 'node:inspector';

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

/** How far the built-in searches of arrays look is work, too. */
const searches = ['includes', 'indexOf', 'lastIndexOf', 'slice'] as const;

/**
 * Counts what a program does: how often each block of its own source is run, and how many entries it has arrays look
 * through. The same work always comes to the same count.
 */
export class WorkCounter {
  readonly #session = new Session();
  readonly #natives = searches.map((name) => [name, Array.prototype[name]] as const);
  #looked = 0;

  constructor() {
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    const look = (length: number) => {
      this.#looked += length;
    };
    for (const [name, native] of this.#natives) {
      // biome-ignore lint/suspicious/noExplicitAny: the same for several functions
      Array.prototype[name] = function (this: unknown[], ...given: any[]) {
        look(this.length);
        return Reflect.apply(native, this, given);
      };
    }
  }

  /** The work since the last call. */
  take(): number {
    const { result } = this.#post('Profiler.takePreciseCoverage') as Coverage;
    let work = this.#looked;
    this.#looked = 0;
    for (const { url, functions } of result) {
      if (!url.includes('/src/')) continue;
      for (const { ranges } of functions) for (const { count } of ranges) work += count;
    }
    return work;
  }

  stop(): void {
    for (const [name, native] of this.#natives) Object.assign(Array.prototype, { [name]: native });
    this.#session.disconnect();
  }

  /** Its answers come at once. */
  #post(method: string, params: object = {}): unknown {
    let answer: unknown;
    this.#session.post(method, params, (error, result) => {
      if (error !== null) throw new Error(`${method} fails: ${JSON.stringify(error)}`);
      answer = result;
    });
    return answer;
  }
}
