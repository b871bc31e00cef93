import type { ClientRequest, IncomingMessage } from 'node:http';
import { ReceivedBytes } from '../../meta/index.ts';

/** Limits the bytes of incomplete responses. */
export interface Receiving {
  /** Reserves bytes; returns whether they fit. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** A response with its body, in its content encoding. */
export interface FullResponse {
  readonly incoming: IncomingMessage;
  readonly body: Buffer;
}

/** Maximum number of interim responses (1xx). */
const maxInterim = 10;

/**
 * Reads the response of a request, with a body of up to `maxBytes`. `receiving` limits the bytes of incomplete responses.
 * Rejects with an Error when there is no complete response.
 */
export function readResponse(outgoing: ClientRequest, maxBytes: number, receiving?: Receiving): Promise<FullResponse> {
  return new Promise((resolve, reject) => {
    let interim = 0;
    outgoing.on('information', () => {
      interim += 1;
      if (interim > maxInterim) outgoing.destroy(new Error(`more than ${maxInterim} interim responses (1xx)`));
    });
    // Without this listener Node closes the connection without an event.
    outgoing.on('upgrade', (_, socket) => {
      socket.destroy();
      reject(new Error('the response changes the protocol, which the request did not ask for'));
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const received = new ReceivedBytes();
      incoming.on('data', (piece: Buffer) => {
        if (received.size + piece.length > maxBytes) {
          incoming.destroy(new Error(`the response has more than ${maxBytes} bytes`));
        } else if (receiving?.take(piece.length) === false) {
          incoming.destroy(new Error('too many bytes of responses of webhooks are arriving'));
        } else received.add(piece);
      });
      incoming.once('close', () => receiving?.give(received.size));
      incoming.on('error', reject);
      incoming.on('end', () => resolve({ incoming, body: received.whole() }));
    });
  });
}
