import { get } from 'node:https';
import type { GetDocument } from '../../access/index.ts';
import { PacedConnections } from '../webhooks/paced-connections.ts';
import { readResponse } from '../webhooks/read-response.ts';

/** Maximum size of a document in bytes, and timeout of a request (ms). */
const maxDocument = 1024 * 1024;
const timeoutMs = 10_000;

export interface ProviderDocuments {
  /** Gets a document over TLS. Follows no redirect. */
  readonly get: GetDocument;
  /** Aborts pending requests. */
  readonly close: () => void;
}

/** Gets the documents of an identity provider. `ca` in PEM verifies its certificate; default: the authorities that Node trusts. */
export function providerDocuments(ca: string | undefined): ProviderDocuments {
  const agent = new PacedConnections({
    minVersion: 'TLSv1.2',
    // Overrides the environment.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
  });
  const closing = new AbortController();
  return {
    get: async (url, accessToken = '') => {
      const ends = AbortSignal.timeout(timeoutMs);
      const signal = AbortSignal.any([closing.signal, ends]);
      try {
        const authorization = accessToken === '' ? {} : { authorization: `Bearer ${accessToken}` };
        const outgoing = get(url, { agent, signal, headers: { accept: 'application/json', ...authorization } });
        const { incoming, body } = await readResponse(outgoing, maxDocument);
        const { statusCode: status = 0, statusMessage: statusText = '' } = incoming;
        return { status, statusText, text: body.toString() };
      } catch (error) {
        const why = ends.aborted ? 'context deadline exceeded' : (error as Error).message;
        throw new Error(`Get ${JSON.stringify(url)}: ${why}`, { cause: error });
      }
    },
    close: () => {
      closing.abort();
      agent.destroy();
    },
  };
}
