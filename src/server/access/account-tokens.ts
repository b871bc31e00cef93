import type { Client } from '../../client/index.ts';
import { type ApiObject, type Clock, isStatus, type Names, statusError } from '../../meta/index.ts';

interface TokenRequest extends ApiObject {
  readonly status?: { readonly token?: string; readonly expirationTimestamp?: string };
}

/** Requested validity of tokens (s), and the fraction of it after which they are renewed. */
const lifeSeconds = 3_600;
const renewalPart = 0.8;

/**
 * Returns a function that resolves with a valid token of a service account in the system namespace. The account is created
 * if missing, and the token renewed before it expires. @throws StatusError
 */
export function accountTokens(
  { client, names, clock }: { readonly client: Client; readonly names: Names; readonly clock: Clock },
  account: string,
): () => Promise<string> {
  const place = { apiVersion: 'v1', resource: 'serviceaccounts', namespace: names.systemNamespace };
  const review: TokenRequest = {
    apiVersion: `authentication.${names.domain}/v1`,
    kind: 'TokenRequest',
    metadata: {},
    spec: { expirationSeconds: lifeSeconds },
  };
  const tokenOf = () => client.create<TokenRequest>({ ...place, name: account, subresource: 'token' }, review);
  const createAccount = async () => {
    const metadata = { namespace: place.namespace, name: account };
    await client.create(place, { apiVersion: 'v1', kind: 'ServiceAccount', metadata }).catch((error: unknown) => {
      if (!isStatus(error, 409)) throw error;
    });
    return tokenOf();
  };
  let current = { token: '', renewAt: 0, expiresAt: 0 };
  let pending: Promise<void> | undefined;
  const renew = async () => {
    const now = clock.now();
    const answer = await tokenOf().catch((error: unknown) => {
      if (isStatus(error, 404)) return createAccount();
      throw error;
    });
    const { token, expirationTimestamp = '' } = answer.status ?? {};
    const expiresAt = Date.parse(expirationTimestamp);
    if (token === undefined || Number.isNaN(expiresAt)) throw statusError.internal('the server issued no token');
    current = { token, renewAt: now + (expiresAt - now) * renewalPart, expiresAt };
  };
  return async () => {
    if (clock.now() >= current.renewAt) {
      pending ??= renew().finally(() => {
        pending = undefined;
      });
      await pending.catch((error: unknown) => {
        if (clock.now() >= current.expiresAt) throw error;
      });
    }
    return current.token;
  };
}
