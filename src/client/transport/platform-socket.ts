import { StatusError } from '../../meta/index.ts';
import type { MessageSocket, Signal } from './transport.ts';

/** The most bytes of messages that wait until they are read: a platform's WebSocket cannot ask its server to pause. */
const maxUnreadBytes = 32 * 1024 * 1024;
/** While more bytes than this wait to be sent (bytes), `send` checks again in this interval (ms). */
const maxUnsentBytes = 1024 * 1024;
const sendIntervalMs = 20;

/**
 * Opens a WebSocket of the platform. `url` is absolute, or relative to the page.
 * @throws StatusError 503 when it is not opened: the platform does not tell why
 */
export async function openPlatformSocket(
  url: string,
  protocols: readonly string[],
  signal?: Signal,
): Promise<MessageSocket> {
  signal?.throwIfAborted();
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  const address = new URL(url, location?.href);
  address.protocol = address.protocol.replace('http', 'ws');
  const socket = new WebSocket(address, [...protocols]);
  socket.binaryType = 'arraybuffer';
  const close = () => socket.close();
  signal?.addEventListener('abort', close);
  const messages = new UnreadMessages(socket);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('close', () => {
      signal?.removeEventListener('abort', close);
      reject(signal?.aborted === true ? signal.reason : unavailable('the server did not open the WebSocket'));
    });
  });
  return {
    protocol: socket.protocol,
    messages: messages.read(),
    send: async (message) => {
      if (socket.readyState !== WebSocket.OPEN) throw unavailable('the WebSocket is closed');
      socket.send(message as Uint8Array<ArrayBuffer>);
      while (socket.readyState === WebSocket.OPEN && socket.bufferedAmount > maxUnsentBytes) await pause();
    },
    close,
  };
}

const pause = () => new Promise((resolve) => setTimeout(resolve, sendIntervalMs));

const unavailable = (why: string) => new StatusError(503, 'ServiceUnavailable', why);

/** The messages that have arrived and are not read yet. */
class UnreadMessages {
  readonly #socket: WebSocket;
  #messages: Uint8Array[] = [];
  #bytes = 0;
  /** Why no more messages come: undefined after a normal end. */
  #end: { readonly error: StatusError | undefined } | undefined;
  #wake: () => void = () => {};

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#take(data));
    socket.addEventListener('close', ({ wasClean, code }) =>
      this.#stop(wasClean ? undefined : unavailable(`the connection was lost (WebSocket status ${code})`)),
    );
  }

  async *read(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const messages = this.#messages;
        this.#messages = [];
        for (const message of messages) {
          this.#bytes -= message.length;
          yield message;
        }
        if (this.#messages.length > 0) continue;
        if (this.#end?.error !== undefined) throw this.#end.error;
        if (this.#end !== undefined) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.#socket.close();
    }
  }

  #take(data: unknown): void {
    if (this.#end !== undefined) return;
    const message = typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data as ArrayBuffer);
    this.#bytes += message.length;
    if (this.#bytes > maxUnreadBytes) {
      this.#stop(
        new StatusError(503, 'ServiceUnavailable', 'the messages of the WebSocket arrive faster than they are read'),
      );
      this.#socket.close();
      return;
    }
    this.#messages.push(message);
    this.#wake();
  }

  #stop(error: StatusError | undefined): void {
    this.#end ??= { error };
    this.#wake();
  }
}
