import type { Clock } from './clock.ts';

/** What the server does for a request, by names and numbers. A write that is attempted again passes some of them again. */
export const Stage = {
  authentication: 0,
  audit: 1,
  impersonation: 2,
  authorization: 3,
  /** The body arrives and is decoded. */
  body: 4,
  /** The object to be written is made: a patch, defaults, managed fields. */
  preparation: 5,
  mutatingAdmission: 6,
  validation: 7,
  validatingAdmission: 8,
  /** A read waits until the cache has what is stored; a write is committed. */
  store: 9,
  serialization: 10,
  /** The response is sent; of a long list, each slice is encoded when the one before has been read. */
  response: 11,
} as const;
export type Stage = (typeof Stage)[keyof typeof Stage];

/** The names by number. */
export const stageNames = Object.keys(Stage) as readonly (keyof typeof Stage)[];

/** A span within a trace. */
export interface Span {
  /** The W3C header `traceparent` for what is called within the span. */
  readonly traceparent: string;
  /** Ends the span. `failure`: why what it stands for has failed. */
  end(failure?: string): void;
}

/** The trace of a request that is sampled. */
export interface RequestTrace {
  /** A stage begins, and the one before ends, this long after the request began (ms). */
  entered(stage: Stage, atMs: number): void;
  /** Begins a span within the present stage. */
  begin(name: string, attributes: { readonly [name: string]: string }): Span;
  /** The request is over: `status` of HTTP, `size` of the body in bytes. */
  end(status: number, size: number): void;
}

/** How long a request has been in each stage. It is in one at a time, first in `authentication`. */
export class Stages {
  /** Set when the request is sampled. */
  trace: RequestTrace | undefined;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #began: number;
  readonly #ms = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  #stage: Stage = Stage.authentication;
  #since: number;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#began = clock.monotonic();
    this.#since = this.#began;
  }

  enter(stage: Stage): void {
    const now = this.#clock.monotonic();
    (this.#ms[this.#stage] as number) += now - this.#since;
    this.#stage = stage;
    this.#since = now;
    this.trace?.entered(stage, now - this.#began);
  }

  /** The time since the request began (ms). */
  totalMs(): number {
    return this.#clock.monotonic() - this.#began;
  }

  /** The time in each stage that took any, the present one included (ms, to a thousandth). */
  times(): { readonly [stage: string]: number } {
    const present = this.#clock.monotonic() - this.#since;
    const rounded = this.#ms.map((ms, i) => Math.round((i === this.#stage ? ms + present : ms) * 1_000) / 1_000);
    return Object.fromEntries(rounded.flatMap((ms, i) => (ms > 0 ? [[stageNames[i], ms]] : [])));
  }
}
