import { StatusError } from '../../meta/index.ts';
import type { Credential, Credentials } from './credentials.ts';
import { type HttpsOptions, httpsTransport } from './https.ts';
import { discard } from './response.ts';
import type { ClientRequest, SocketRequest, Transport } from './transport.ts';

type HttpsTransport = ReturnType<typeof httpsTransport>;

/**
 * Sends each request with the current credential. After a response with status 401 it asks for another credential and sends
 * the request again, once. A changed certificate closes the connections of the former one, so that the next request begins
 * with a new TLS handshake.
 */
export function credentialedTransport(options: HttpsOptions, credentials: Credentials): Transport & { close(): void } {
  let certificate: Credential['certificate'];
  let inner: HttpsTransport | undefined;

  const transportFor = (current: Credential['certificate']) => {
    if (inner !== undefined && isSame(current, certificate)) return inner;
    inner?.close();
    certificate = current;
    inner = httpsTransport(current === undefined ? options : { ...options, certificate: current });
    return inner;
  };

  const signed = async <R extends Pick<ClientRequest, 'headers'>>(request: R) => {
    const credential = await credentials.current();
    const { authorization } = credential;
    const headers = authorization === undefined ? request.headers : { authorization, ...request.headers };
    return { credential, transport: transportFor(credential.certificate), request: { ...request, headers } };
  };

  const send = async (request: ClientRequest) => {
    const first = await signed(request);
    const response = await first.transport(first.request);
    if (response.status !== 401 || !credentials.reject(first.credential)) return response;
    await discard({ ...response, status: 200 });
    const second = await signed(request);
    return second.transport(second.request);
  };
  const webSocket = async (request: SocketRequest) => {
    const first = await signed(request);
    try {
      return await first.transport.webSocket(first.request);
    } catch (error) {
      const isUnauthorized = error instanceof StatusError && error.code === 401;
      if (!isUnauthorized || !credentials.reject(first.credential)) throw error;
    }
    const second = await signed(request);
    return second.transport.webSocket(second.request);
  };
  return Object.assign(send, { webSocket, close: () => inner?.close() });
}

const isSame = (a: Credential['certificate'], b: Credential['certificate']) => a?.cert === b?.cert && a?.key === b?.key;
