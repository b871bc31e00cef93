/** The second run of the mutating phase, as one plugin sees it. */
import { type JsonObject, jsonCopy, jsonEqual } from '../meta/index.ts';
import type { AdmissionRequest } from './types.ts';

/** The webhooks or policies that a plugin has invoked for a request, for the second run of the mutating phase. */
export class Invocations {
  readonly #request: AdmissionRequest;
  /** Those that may be invoked again, and have been invoked since the object changed last. */
  #invoked = new Set<string>();
  /** Those to be invoked again. */
  readonly #again = new Set<string>();
  /** The object after the last run; undefined: nothing depends on it. */
  #last: JsonObject | undefined;

  constructor(request: AdmissionRequest) {
    this.#request = request;
    request.reinvocation ??= { needed: false, again: false };
  }

  /** Begins a run. */
  begin(): void {
    // Other plugins may have changed the object since.
    const { object } = this.#request;
    if (this.isAgain && this.#last !== undefined && !jsonEqual(this.#last, object)) this.#invokeAgain();
  }

  get isAgain(): boolean {
    return this.#request.reinvocation?.again === true;
  }

  /** Whether this run leaves something out that the first one has seen. */
  skips(id: string): boolean {
    return this.isAgain && !this.#again.has(id);
  }

  /** The object has been changed: what was invoked before is invoked again, and so are other plugins. */
  changed(): void {
    this.#invokeAgain();
    if (this.#request.reinvocation !== undefined) this.#request.reinvocation.needed = true;
  }

  /** Something has been invoked that may be invoked again. */
  add(id: string): void {
    this.#invoked.add(id);
  }

  /** Ends a run. */
  end(): void {
    const { object } = this.#request;
    this.#last = this.#invoked.size > 0 && object !== undefined ? jsonCopy(object) : undefined;
  }

  #invokeAgain(): void {
    for (const id of this.#invoked) this.#again.add(id);
    this.#invoked = new Set();
  }
}
