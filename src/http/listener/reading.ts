import type { Socket } from 'node:net';

/** The handle of Node's sockets. There is no other way to stop reading below an HTTP/2 session. */
interface Handle {
  /** False while Node itself has stopped reading. */
  readonly reading: boolean;
  readStop(): unknown;
  readStart(): unknown;
}

/** Whether a connection is read. */
export interface Reading {
  /** Reads no more until the next turn of the event loop. */
  pause(): void;
  /** Reads no more until it is woken. */
  rest(): void;
  wake(): void;
  /** Reads no more until it is released. */
  hold(): void;
  release(): void;
  /** Reads no more. */
  stop(): void;
}

export function readingOf(socket: Socket): Reading {
  let stopped = false;
  let held = false;
  let resting = false;
  const handle = () => (socket as unknown as { readonly _handle: Handle | null })._handle;
  const start = () => {
    const found = handle();
    if (!stopped && !held && !resting && found?.reading === true) found.readStart();
  };
  return {
    pause() {
      handle()?.readStop();
      setImmediate(start);
    },
    rest() {
      resting = true;
      handle()?.readStop();
    },
    wake() {
      resting = false;
      start();
    },
    hold() {
      held = true;
      handle()?.readStop();
    },
    release() {
      if (!held) return;
      held = false;
      start();
    },
    stop() {
      stopped = true;
      handle()?.readStop();
    },
  };
}
