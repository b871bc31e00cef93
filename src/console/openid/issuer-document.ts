/** The discovery document of an issuer (OpenID Connect Discovery 1.0, 3), and requests to the issuer. */
import type { Issuer } from '../state/settings.ts';
import { t } from '../texts.ts';

/** What the sign-in uses of the browser. */
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
  /** Whether every response of the authorization endpoint names the issuer (RFC 9207, 3). */
  readonly namesIssuer: boolean;
}

/** @throws Error when the document cannot be read, is that of another issuer, or lacks an endpoint that the page may use */
export async function readIssuerDocument(issuer: Issuer, browser: SignInBrowser): Promise<IssuerDocument> {
  const { url, discoveryUrl } = issuer;
  const document = await requestJson(issuer, discoveryUrl, {}, browser);
  if (document['issuer'] !== url) throw new Error(t('issuerDiffers', { issuer: url }));
  const authorizationEndpoint = httpsUrl(document['authorization_endpoint']);
  const tokenEndpoint = httpsUrl(document['token_endpoint']);
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) {
    throw new Error(t('issuerWithoutSignIn', { issuer: url }));
  }
  // The policy of the page allows no other origin.
  if (![url, discoveryUrl].some((allowed) => originOf(allowed) === originOf(tokenEndpoint))) {
    throw new Error(t('issuerElsewhere', { issuer: url, origin: originOf(tokenEndpoint) }));
  }
  const namesIssuer = document['authorization_response_iss_parameter_supported'] === true;
  return { authorizationEndpoint, tokenEndpoint, namesIssuer };
}

const originOf = (url: string): string => new URL(url).origin;

const httpsUrl = (value: unknown): string | undefined =>
  typeof value === 'string' && URL.canParse(value) && new URL(value).protocol === 'https:' ? value : undefined;

/** The JSON of a response of an issuer. @throws Error with what the issuer says, or when it cannot be reached */
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
  const body: unknown = await response.json().catch(() => undefined);
  const members = typeof body === 'object' && body !== null ? (body as { readonly [name: string]: unknown }) : {};
  if (response.ok) return members;
  const why = refusalText(members['error'], members['error_description']) || `HTTP ${response.status}`;
  throw response.status < 500 ? new IssuerRefusal(why) : new Error(t('issuerRefuses', { why }));
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
