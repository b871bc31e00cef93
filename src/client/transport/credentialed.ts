import type { Credential, Credentials } from './credentials.ts';
import { type HttpsOptions, httpsTransport } from './https.ts';
import { discard } from './response.ts';
import type { ClientRequest, Transport } from './transport.ts';

type ClosableTransport = Transport & { close(): void };

/**
 * Sends each request with the current credential. After a response with status 401 it asks for another credential and sends
 * the request again, once. A changed certificate closes the connections of the former one, so that the next request begins
 * with a new TLS handshake.
 */
export function credentialedTransport(options: HttpsOptions, credentials: Credentials): ClosableTransport {
  let certificate: Credential['certificate'];
  let inner: (ClosableTransport & Required<Pick<Transport, 'upgrade'>>) | undefined;

  const transportFor = (wanted: Credential['certificate']) => {
    if (inner !== undefined && isSame(wanted, certificate)) return inner;
    inner?.close();
    certificate = wanted;
    inner = httpsTransport(wanted === undefined ? options : { ...options, certificate: wanted });
    return inner;
  };

  type Way = 'send' | 'upgrade';
  const attempt = async (request: ClientRequest, way: Way) => {
    const credential = await credentials.current();
    const { authorization } = credential;
    const headers = authorization === undefined ? request.headers : { authorization, ...request.headers };
    const transport = transportFor(credential.certificate);
    const signed = { ...request, headers };
    return { credential, answer: await (way === 'send' ? transport(signed) : transport.upgrade(signed)) };
  };
  const send = async (request: ClientRequest, way: Way) => {
    const { credential, answer } = await attempt(request, way);
    if (!('status' in answer) || answer.status !== 401 || !credentials.reject(credential)) return answer;
    await discard({ ...answer, status: 200 });
    return (await attempt(request, way)).answer;
  };

  const transport = async (request: ClientRequest) => {
    const answer = await send(request, 'send');
    if ('status' in answer) return answer;
    throw new Error('the server upgraded a connection unasked');
  };
  return Object.assign(transport, {
    upgrade: (request: ClientRequest) => send(request, 'upgrade'),
    close: () => inner?.close(),
  });
}

const isSame = (a: Credential['certificate'], b: Credential['certificate']) => a?.cert === b?.cert && a?.key === b?.key;
