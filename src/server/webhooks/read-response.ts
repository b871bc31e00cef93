import type { ClientRequest, IncomingMessage } from 'node:http';
import { ReceivedBytes } from '../../meta/index.ts';

/** The bytes of responses that are arriving. */
export interface Receiving {
  /** Whether so many more fit; they count until they are given back. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** A response with its body, in whatever content encoding it was sent. */
export interface FullResponse {
  readonly incoming: IncomingMessage;
  readonly body: Buffer;
}

/** How many interim responses (1xx) may come before the response. */
const maxInterim = 10;

/**
 * The response of a request. `maxBytes`: the size of its body. `receiving` is asked before more bytes are held, and told
 * when they no longer arrive. Rejects with an Error whose message says why there is no complete response.
 */
export function readResponse(outgoing: ClientRequest, maxBytes: number, receiving?: Receiving): Promise<FullResponse> {
  return new Promise((resolve, reject) => {
    let interim = 0;
    outgoing.on('information', () => {
      interim += 1;
      if (interim > maxInterim) outgoing.destroy(new Error(`more than ${maxInterim} interim responses (1xx)`));
    });
    // Where nobody listens, Node closes the connection without an event.
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
