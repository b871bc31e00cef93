/** The tokens of an issuer, in the memory of the page only. */
import { isJsonObject, type JsonObject, readJsonText } from '../../meta/index.ts';
import type { Issuer } from '../state/settings.ts';
import { t } from '../texts.ts';
import { type IssuerDocument, IssuerRefusal, requestJson, type SignInBrowser } from './issuer-document.ts';

/** Returns the bearer token for a request. */
export type TokenSource = () => Promise<string>;

/** The tokens of a session that began at an issuer. */
export interface SessionTokens {
  readonly token: TokenSource;
  /** The latest ID token, as it is. */
  readonly latest: () => string;
}

/** The tokens of a response of the token endpoint. */
export interface IssuedTokens {
  readonly idToken: string;
  /** The claims of the ID token. */
  readonly claims: JsonObject;
  /** Undefined: the issuer gives none. */
  readonly refreshToken: string | undefined;
}

/**
 * Requests tokens with a grant (RFC 6749, 4.1.3 and 6).
 * @throws IssuerRefusal, or Error when the response has no ID token of the issuer for the page
 */
export async function requestTokens(
  issuer: Issuer,
  { tokenEndpoint }: IssuerDocument,
  grant: { readonly [name: string]: string },
  browser: SignInBrowser,
): Promise<IssuedTokens> {
  const body = new URLSearchParams({ ...grant, client_id: issuer.clientId });
  const response = await requestJson(issuer, tokenEndpoint, { method: 'POST', body }, browser);
  const { id_token: idToken, refresh_token: refreshToken } = response;
  const claims = typeof idToken === 'string' ? claimsOf(idToken) : undefined;
  if (typeof idToken !== 'string' || claims === undefined) throw new Error(t('noIdToken', { issuer: issuer.url }));
  const audiences = [claims['aud']].flat();
  if (claims['iss'] !== issuer.url || !audiences.includes(issuer.clientId)) {
    throw new Error(t('issuerDiffers', { issuer: issuer.url }));
  }
  return { idToken, claims, refreshToken: typeof refreshToken === 'string' ? refreshToken : undefined };
}

/** The claims of a token, whose signature the server checks; undefined: it is none. */
function claimsOf(token: string): JsonObject | undefined {
  const [, payload = ''] = token.split('.');
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (unit) =>
      unit.charCodeAt(0),
    );
    const claims = readJsonText(new TextDecoder().decode(bytes));
    return isJsonObject(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

/** A token is renewed when it is valid for less than this, or less than a quarter of its lifetime (ms). */
const renewalMs = 60_000;

/**
 * The ID token of a session, which a request renews by the refresh token before it expires. When the issuer refuses that, or gives no refresh
 * token, the last ID token stays until the server no longer accepts it.
 */
export function sessionTokens(
  issuer: Issuer,
  document: IssuerDocument,
  first: IssuedTokens,
  browser: SignInBrowser,
): SessionTokens {
  let tokens = first;
  let renewAt = renewalTime(first.claims, browser.now());
  let renewal: Promise<void> | undefined;
  const renew = async (refreshToken: string) => {
    const grant = { grant_type: 'refresh_token', refresh_token: refreshToken };
    try {
      const next = await requestTokens(issuer, document, grant, browser);
      // OpenID Connect Core 1.0, 12.2
      if (next.claims['sub'] !== first.claims['sub']) throw new IssuerRefusal(t('otherUser'));
      tokens = { ...next, refreshToken: next.refreshToken ?? refreshToken };
      renewAt = renewalTime(next.claims, browser.now());
    } catch (error) {
      // Where the issuer cannot be reached, the next request tries again.
      if (error instanceof IssuerRefusal) tokens = { ...tokens, refreshToken: undefined };
    }
  };
  const token = async () => {
    const { refreshToken } = tokens;
    if (refreshToken !== undefined && browser.now() >= renewAt) {
      renewal ??= renew(refreshToken).finally(() => {
        renewal = undefined;
      });
      await renewal;
    }
    return tokens.idToken;
  };
  return { token, latest: () => tokens.idToken };
}

/**
 * When a token that was issued now has to be renewed (ms since 1970): its lifetime counts, as clocks differ. NaN, which no time
 * reaches, where it has none.
 */
function renewalTime({ iat, exp }: JsonObject, now: number): number {
  const lifetime = (Number(exp) - Number(iat)) * 1000;
  return now + lifetime - Math.min(renewalMs, lifetime / 4);
}
