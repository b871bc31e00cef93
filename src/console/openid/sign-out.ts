/** Signing out at an issuer (OpenID Connect RP-Initiated Logout 1.0, 2). */
import type { Issuer } from '../state/settings.ts';
import type { IssuerDocument, SignInBrowser } from './issuer-document.ts';

/** Servers refuse very long addresses: a longer ID token is left out, and the issuer asks the user (UTF-16 units). */
const maxHint = 6_000;

/** The address that ends the session at an issuer and returns to the page; undefined: the issuer has none. */
export function signOutAddress(
  { clientId }: Issuer,
  { endSessionEndpoint }: IssuerDocument,
  idToken: string,
  { redirectUri }: Pick<SignInBrowser, 'redirectUri'>,
): string | undefined {
  if (endSessionEndpoint === undefined) return undefined;
  const url = new URL(endSessionEndpoint);
  const parameters = {
    ...(idToken.length > maxHint ? {} : { id_token_hint: idToken }),
    client_id: clientId,
    post_logout_redirect_uri: redirectUri,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}
