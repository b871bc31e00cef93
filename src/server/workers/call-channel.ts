/** Functions that another process can call: their arguments and results are cloned. */
export type Calls<T> = { readonly [Name in keyof T]: (...args: never[]) => unknown };

type Returned<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never;

type CallMessage =
  | { readonly type: 'call'; readonly id: number; readonly name: string; readonly args: readonly unknown[] }
  | { readonly type: 'return'; readonly id: number; readonly value: unknown }
  | { readonly type: 'throw'; readonly id: number; readonly message: string };

/** Calls between two processes, in both directions. */
export class CallChannel<Local extends Calls<Local>, Remote extends Calls<Remote>> {
  readonly #local: Local;
  readonly #send: (message: CallMessage) => void;
  readonly #pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #lastId = 0;
  #open = true;

  constructor(local: Local, send: (message: CallMessage) => void) {
    this.#local = local;
    this.#send = send;
  }

  /** Calls a function of the other process. Rejects with the message of its error, or when the other process has ended. */
  call<Name extends string & keyof Remote>(
    name: Name,
    ...args: Parameters<Remote[Name]>
  ): Promise<Returned<Remote[Name]>> {
    if (!this.#open) return Promise.reject(endedError());
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#send({ type: 'call', id, name, args });
    });
  }

  /** Takes a message of the other process. */
  async take(message: CallMessage): Promise<void> {
    const { id } = message;
    if (message.type === 'call') {
      this.#send(await this.#answer(message));
      return;
    }
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (message.type === 'return') pending?.resolve(message.value);
    else pending?.reject(new Error(message.message));
  }

  /** Rejects the calls in progress and all later ones: the other process has ended. */
  end(): void {
    this.#open = false;
    for (const { reject } of this.#pending.values()) reject(endedError());
    this.#pending.clear();
  }

  async #answer({ id, name, args }: Extract<CallMessage, { type: 'call' }>): Promise<CallMessage> {
    try {
      // Both processes run the same program, so that the types of the caller hold here.
      const called = this.#local[name as keyof Local];
      return { type: 'return', id, value: await called(...(args as never[])) };
    } catch (error) {
      return { type: 'throw', id, message: error instanceof Error ? error.message : String(error) };
    }
  }
}

const endedError = () => new Error('the other process of the server has ended');
