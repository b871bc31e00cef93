import { Agent, get } from 'node:https';
import type { GetDocument } from '../access/index.ts';
import { ReceivedBytes } from '../meta/index.ts';

/** The largest document (bytes), and how long it may take (ms). */
const maxDocument = 1024 * 1024;
const timeoutMs = 10_000;

export interface ProviderDocuments {
  /** Gets a document over TLS. Follows no redirect. */
  readonly get: GetDocument;
  /** Ends requests under way. */
  readonly close: () => void;
}

/** Documents of an identity provider, whose certificate is verified by authorities in PEM, or by those that Node trusts. */
export function providerDocuments(ca: string | undefined): ProviderDocuments {
  const agent = new Agent({ minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }) });
  const closing = new AbortController();
  return {
    get: (url) =>
      new Promise((resolve, reject) => {
        const ends = AbortSignal.timeout(timeoutMs);
        const signal = AbortSignal.any([closing.signal, ends]);
        const fail = (error: Error) => {
          const why = ends.aborted ? 'context deadline exceeded' : error.message;
          reject(new Error(`Get ${JSON.stringify(url)}: ${why}`, { cause: error }));
        };
        get(url, { agent, signal, headers: { accept: 'application/json' } }, (response) => {
          const received = new ReceivedBytes();
          response.on('data', (piece: Buffer) => {
            if (received.size + piece.length <= maxDocument) received.add(piece);
            else response.destroy(new Error(`the response has more than ${maxDocument} bytes`));
          });
          response.on('error', fail);
          response.on('end', () => {
            const { statusCode: status = 0, statusMessage: statusText = '' } = response;
            resolve({ status, statusText, text: received.whole().toString() });
          });
        }).on('error', fail);
      }),
    close: () => {
      closing.abort();
      agent.destroy();
    },
  };
}
