import { StatusError } from '../../meta/index.ts';
import { joined, utf8 } from '../transport/bytes.ts';
import type { MessageSocket } from '../transport/transport.ts';

/** A connection to a port of a pod. */
export interface ForwardedPort {
  /** The bytes from the pod; iterable once. Rejects with a StatusError when the port cannot be reached. */
  readonly received: AsyncIterable<Uint8Array>;
  /** Resolves when the connection accepts more data. */
  send(data: Uint8Array | string): Promise<void>;
  /** Closes the connection. Idempotent. */
  close(): void;
}

/** The first byte of each message is the number of its channel: those of the first port. */
const channels = { data: 0, error: 1 } as const;
/** Length of the port number with which each channel begins (bytes). */
const headLength = 2;

/** A connection over a WebSocket with the protocol for forwarded ports. */
export function forwardedPort(socket: MessageSocket, port: number): ForwardedPort {
  async function* received(): AsyncGenerator<Uint8Array> {
    const heads = new Set<number>([channels.data, channels.error]);
    try {
      for await (const message of socket.messages) {
        const [channel = channels.data] = message;
        const data = message.subarray(heads.delete(channel) ? 1 + headLength : 1);
        if (data.length === 0) continue;
        if (channel === channels.data) yield data;
        else throw new StatusError(502, 'BadGateway', `port ${port}: ${new TextDecoder().decode(data)}`);
      }
    } finally {
      socket.close();
    }
  }
  return {
    received: received(),
    send: (data) => socket.send(joined([Uint8Array.of(channels.data), typeof data === 'string' ? utf8(data) : data])),
    close: () => socket.close(),
  };
}
