/** The bytes that the clients of a user have yet to read, which are limited. */
export interface UnreadBytes {
  /** Takes bytes now, or as soon as they fit, with a call of `onTaken`. Returns a function that cancels the wait. */
  addUnread(bytes: number, onTaken: () => void): (() => void) | undefined;
  /** Takes bytes whether they fit or not. */
  takeUnread(bytes: number): void;
  releaseUnread(bytes: number): void;
}

/** The share of one response in the unread bytes of its user. */
export class UnreadShare {
  readonly #all: UnreadBytes;
  #bytes = 0;
  #stopWaiting: (() => void) | undefined;

  constructor(all: UnreadBytes) {
    this.#all = all;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes bytes; nothing may be taken yet. Undefined: they are. Otherwise resolves once they are, or `release` is called. */
  take(bytes: number): Promise<void> | undefined {
    let resolve = () => {};
    const cancel = this.#all.addUnread(bytes, () => {
      this.#stopWaiting = undefined;
      this.#bytes = bytes;
      resolve();
    });
    if (cancel === undefined) {
      this.#bytes = bytes;
      return undefined;
    }
    return new Promise((whenTaken) => {
      resolve = whenTaken;
      this.#stopWaiting = () => {
        cancel();
        whenTaken();
      };
    });
  }

  /** Corrects the bytes that are taken to the size of what has been made. */
  correct(bytes: number): void {
    const more = bytes - this.#bytes;
    this.#bytes = bytes;
    if (more > 0) this.#all.takeUnread(more);
    else if (more < 0) this.#all.releaseUnread(-more);
  }

  /** Releases what is taken, and ends a wait. */
  release(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    this.correct(0);
  }
}
