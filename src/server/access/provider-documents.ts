import { Agent, get } from 'node:https';
import type { GetDocument } from '../../access/index.ts';
import { wholeResponse } from '../webhooks/whole-response.ts';

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
  const agent = new Agent({
    minVersion: 'TLSv1.2',
    // Also where the environment says otherwise.
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
        const { incoming, body } = await wholeResponse(outgoing, maxDocument);
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
