/** Signing in at an issuer: the authorization code flow with PKCE (OpenID Connect Core 1.0, 3.1; RFC 7636). */
import { base64url } from '../../client/index.ts';
import { isJsonObject, readJsonText } from '../../meta/index.ts';
import type { Issuer, PageSettings } from '../state/settings.ts';
import { t } from '../texts.ts';
import { IssuerRefusal, readIssuerDocument, refusalText, type SignInBrowser } from './issuer-document.ts';
import { signOutAddress } from './sign-out.ts';
import { requestTokens, sessionTokens, type TokenSource } from './tokens.ts';

/** The state that the page stores while the user is at the issuer. */
interface PendingSignIn {
  readonly issuer: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** The view of the page: the fragment of its address. */
  readonly address: string;
}

/** A completed sign-in. */
export interface CompletedSignIn {
  readonly token: TokenSource;
  /** Where the browser has to move to end the session at the issuer as well; undefined: nowhere. */
  readonly signOutAddress: () => string | undefined;
  /** The previous view of the page: the fragment of its address. */
  readonly address: string;
}

const storageKey = 'sign-in';

/**
 * Prepares a sign-in, and returns the address of the issuer to which the browser has to move. The tab remembers the sign-in
 * until {@link completeSignIn}. @throws Error when the issuer cannot be used
 */
export async function beginSignIn(
  issuer: Issuer,
  scopes: readonly string[],
  address: string,
  browser: SignInBrowser,
): Promise<string> {
  const { authorizationEndpoint } = await readIssuerDocument(issuer, browser);
  const [state, nonce, verifier] = [randomText(), randomText(), randomText()];
  const pending: PendingSignIn = { issuer: issuer.url, state, nonce, verifier, address };
  browser.storage.setItem(storageKey, JSON.stringify(pending));
  const url = new URL(authorizationEndpoint);
  const parameters = {
    response_type: 'code',
    client_id: issuer.clientId,
    redirect_uri: browser.redirectUri,
    scope: scopes.join(' '),
    // OpenID Connect Core 1.0, 11
    ...(scopes.includes('offline_access') ? { prompt: 'consent' } : {}),
    state,
    nonce,
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Whether the query of the page's address is the response of an issuer. */
export const isIssuerResponse = (query: URLSearchParams): boolean =>
  query.has('state') && (query.has('code') || query.has('error'));

/**
 * Exchanges the response of an issuer for tokens. The tab forgets the sign-in at once, so that no response counts twice.
 * @throws Error that says why the response is not accepted
 */
export async function completeSignIn(
  query: URLSearchParams,
  { issuers }: Pick<PageSettings, 'issuers'>,
  browser: SignInBrowser,
): Promise<CompletedSignIn> {
  const pending = takePending(browser.storage);
  const issuer = issuers.find(({ url }) => url === pending?.issuer);
  if (pending === undefined || issuer === undefined || query.get('state') !== pending.state) {
    throw new Error(t('unexpectedSignIn'));
  }
  const document = await readIssuerDocument(issuer, browser);
  const named = query.get('iss');
  if (named === null ? document.namesIssuer : named !== issuer.url) {
    throw new Error(t('issuerDiffers', { issuer: issuer.url }));
  }
  const code = query.get('code');
  if (code === null) throw new IssuerRefusal(refusalText(query.get('error'), query.get('error_description')));
  const exchange = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: browser.redirectUri,
    code_verifier: pending.verifier,
  };
  const tokens = await requestTokens(issuer, document, exchange, browser);
  const { nonce, address } = pending;
  // OpenID Connect Core 1.0, 3.1.3.7: the server checks the rest with each request, the signature too.
  if (tokens.claims['nonce'] !== nonce) throw new Error(t('unexpectedSignIn'));
  const { token, latest } = sessionTokens(issuer, document, tokens, browser);
  return { token, signOutAddress: () => signOutAddress(issuer, document, latest(), browser), address };
}

function takePending(storage: SignInBrowser['storage']): PendingSignIn | undefined {
  const text = storage.getItem(storageKey);
  storage.removeItem(storageKey);
  const value = text === null ? undefined : readJsonText(text);
  return isJsonObject(value) ? (value as unknown as PendingSignIn) : undefined;
}

/** 256 random bits. */
const randomText = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** The challenge of a verifier (RFC 7636, 4.2). */
const challengeOf = async (verifier: string): Promise<string> =>
  base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
