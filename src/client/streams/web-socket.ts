import { randomBytes } from 'node:crypto';
import { FrameError, FrameReader, maskedFrame, opcodes, StatusError, webSocketAccept } from '../../meta/index.ts';
import { failure, readAll } from '../transport/response.ts';
import type { Signal, Transport, UpgradedConnection } from '../transport/transport.ts';

/** The client side of a WebSocket (RFC 6455) whose messages are binary. */
export interface WebSocket {
  /** The subprotocol that the server selected. */
  readonly protocol: string;
  /** The messages of the server; iterable once. Ends when the server closes. Rejects when the connection is lost. */
  readonly messages: AsyncIterable<Uint8Array>;
  /** Resolves when the connection accepts more data. */
  send(message: Uint8Array): Promise<void>;
  /** Closes the connection. Idempotent. */
  close(): void;
}

export interface WebSocketRequest {
  /** Path and query. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  /** The offered subprotocols in order of preference. */
  readonly protocols: readonly string[];
  readonly signal?: Signal;
}

/** @throws StatusError of the server when it rejects the upgrade; 501 when the transport has no connections */
export async function openWebSocket(transport: Transport, request: WebSocketRequest): Promise<WebSocket> {
  if (transport.upgrade === undefined) {
    const why =
      'the transport has no connections: commands, attached containers and forwarded ports require httpsTransport';
    throw new StatusError(501, 'NotImplemented', why);
  }
  const { url, headers, protocols, signal } = request;
  const key = randomBytes(16).toString('base64');
  const response = await transport.upgrade({
    method: 'GET',
    url,
    headers: {
      ...headers,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': key,
      'sec-websocket-protocol': protocols.join(', '),
    },
    ...(signal === undefined ? {} : { signal }),
  });
  if (!('received' in response)) throw failure(response.status, await readAll(response));
  const protocol = response.headers['sec-websocket-protocol'] ?? '';
  if (response.headers['sec-websocket-accept'] !== webSocketAccept(key) || !protocols.includes(protocol)) {
    response.close();
    const why = `the server did not accept the WebSocket protocol ${protocols.join(' or ')}`;
    throw new StatusError(502, 'BadGateway', why);
  }
  return {
    protocol,
    messages: messagesOf(response),
    send: (message) => response.send(maskedFrame(opcodes.binary, message)),
    close: () => response.close(),
  };
}

/** The longest message of a server (bytes). */
const maxMessageBytes = 32 * 1024 * 1024;

/** Yields the messages of the server and answers its control frames. */
async function* messagesOf(connection: UpgradedConnection): AsyncGenerator<Uint8Array> {
  const reader = new FrameReader({ masked: false, maxMessageBytes });
  try {
    for await (const bytes of connection.received) {
      for (const { opcode, payload } of reader.read(bytes)) {
        if (opcode === opcodes.close) {
          // The server may have ended the connection already.
          await connection.send(maskedFrame(opcodes.close, payload.subarray(0, 2))).catch(() => {});
          return;
        }
        if (opcode === opcodes.ping) await connection.send(maskedFrame(opcodes.pong, payload));
        else if (opcode !== opcodes.pong) yield payload;
      }
    }
  } catch (error) {
    throw toStatusError(error);
  } finally {
    connection.close();
  }
}

function toStatusError(error: unknown): unknown {
  if (error instanceof StatusError) return error;
  if (error instanceof FrameError) {
    return new StatusError(502, 'BadGateway', `the server has sent ${error.message} over the WebSocket`);
  }
  const why = error instanceof Error ? error.message : String(error);
  return new StatusError(503, 'ServiceUnavailable', `the connection was lost: ${why}`, undefined, { cause: error });
}
