import { randomBytes } from 'node:crypto';
import { FrameError, FrameReader, maskedFrame, opcodes, StatusError, webSocketAccept } from '../../meta/index.ts';
import { failure, readAll } from './response.ts';
import type { ClientRequest, ClientResponse, MessageSocket, SocketRequest } from './transport.ts';

/** A connection that was upgraded to another protocol. */
export interface UpgradedConnection {
  /** The headers of the response with status 101, by lower-case name. */
  readonly headers: { readonly [name: string]: string };
  /** The bytes from the server; iterable once. Rejects when the connection is lost. */
  readonly received: AsyncIterable<Uint8Array>;
  /** Resolves when the connection accepts more data. */
  send(bytes: Uint8Array): Promise<void>;
  /** Closes the connection. Idempotent. */
  close(): void;
}

/** Sends a request to upgrade the connection; resolves to the response when the server rejects it. */
export type Upgrade = (request: ClientRequest) => Promise<UpgradedConnection | ClientResponse>;

/** @throws StatusError of the server when it rejects the upgrade */
export async function openWebSocket(upgrade: Upgrade, request: SocketRequest): Promise<MessageSocket> {
  const { url, headers, protocols, signal } = request;
  const key = randomBytes(16).toString('base64');
  const response = await upgrade({
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
