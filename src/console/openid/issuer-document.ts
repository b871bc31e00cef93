/** The discovery document of an issuer (OpenID Connect Discovery 1.0, 3), and requests to the issuer. */
import { isJsonObject, readJsonText } from '../../meta/index.ts';
import type { Issuer } from '../state/settings.ts';
import { t } from '../texts.ts';

/** The functions of the browser that the sign-in uses. */
export interface SignInBrowser {
  readonly fetch: (url: string, request: RequestInit) => Promise<Response>;
  /** Storage of the tab. */
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  /** The address of the page, without query and fragment: the redirect URI. */
  readonly redirectUri: string;
  /** In ms since 1970. */
  readonly now: () => number;
}

/** The part of a discovery document that the sign-in needs. */
export interface IssuerDocument {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** Where a session at the issuer is ended (OpenID Connect RP-Initiated Logout 1.0); undefined: nowhere. */
  readonly endSessionEndpoint: string | undefined;
  /** Whether every response of the authorization endpoint names the issuer (RFC 9207, 3). */
  readonly namesIssuer: boolean;
}

/** @throws Error when the document cannot be read, is that of another issuer, or lacks an endpoint that the page may use */
export async function readIssuerDocument(issuer: Issuer, browser: SignInBrowser): Promise<IssuerDocument> {
  const { url, discoveryUrl, origins } = issuer;
  const document = await requestJson(issuer, discoveryUrl, {}, browser);
  if (document['issuer'] !== url) throw new Error(t('issuerDiffers', { issuer: url }));
  const authorizationEndpoint = httpsUrl(document['authorization_endpoint']);
  const tokenEndpoint = httpsUrl(document['token_endpoint']);
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) {
    throw new Error(t('issuerWithoutSignIn', { issuer: url }));
  }
  if (!origins.includes(originOf(tokenEndpoint))) {
    throw new Error(t('issuerElsewhere', { issuer: url, origin: originOf(tokenEndpoint) }));
  }
  const namesIssuer = document['authorization_response_iss_parameter_supported'] === true;
  const endSessionEndpoint = httpsUrl(document['end_session_endpoint']);
  return { authorizationEndpoint, tokenEndpoint, endSessionEndpoint, namesIssuer };
}

const originOf = (url: string): string => new URL(url).origin;

/** A URL with https and without credentials; undefined for any other value. */
function httpsUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined;
  const { protocol, username, password } = new URL(value);
  return protocol === 'https:' && `${username}${password}` === '' ? value : undefined;
}

/** The longest response of an issuer that is read (bytes). */
const maxResponse = 1024 * 1024;

/** The JSON of a response of an issuer. @throws Error with what the issuer says, or when it cannot be reached or read */
export async function requestJson(
  { url: issuer }: Issuer,
  url: string,
  request: RequestInit,
  browser: SignInBrowser,
): Promise<{ readonly [name: string]: unknown }> {
  let response: Response;
  try {
    // Cookies of the issuer are no business of the page.
    response = await browser.fetch(url, { ...request, credentials: 'omit', redirect: 'error' });
  } catch {
    // Browsers do not tell a page why.
    throw new Error(t('issuerUnreachable', { issuer, origin: originOf(browser.redirectUri) }));
  }
  const text = await readBounded(response).catch(() => undefined);
  if (text === undefined) throw new Error(t('issuerTooLong', { issuer }));
  const body = readJsonText(text);
  const members = isJsonObject(body) ? body : {};
  if (response.ok) return members;
  const why = refusalText(members['error'], members['error_description']) || `HTTP ${response.status}`;
  throw response.status < 500 ? new IssuerRefusal(why) : new Error(t('issuerRefuses', { why }));
}

/** The text of a response; undefined when it is too long. */
async function readBounded({ body }: Response): Promise<string | undefined> {
  if (body === null) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.length;
    if (bytes > maxResponse) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text;
}

/** The issuer refuses a request (RFC 6749, 4.1.2.1 and 5.2). The message is the issuer's own text. */
export class IssuerRefusal extends Error {
  constructor(why: string) {
    super(t('issuerRefuses', { why }));
  }
}

/** The longest text of an issuer that is shown. */
const maxTextLength = 500;

/** The code of an error and its description. */
export const refusalText = (error: unknown, description: unknown): string =>
  [error, description]
    .filter((text) => typeof text === 'string' && text !== '')
    .join(': ')
    .slice(0, maxTextLength);
