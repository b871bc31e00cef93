import { existsSync } from 'node:fs';
import { type Authenticator, type Authorizer, anonymousAuthenticator } from '../../auth/index.ts';
import { type Console, type ConsoleIssuer, createConsole, isConsolePath } from '../../http/index.ts';
import type { Names } from '../../meta/index.ts';
import type { ServerSettings } from '../settings/flags.ts';
import type { DiscoveredProvider, IdentityProviders } from './identity-providers.ts';

/** The page of the console, which offers the identity providers of the current configuration. */
export const openConsole = (
  { consoleOidcScopes: scopes }: Pick<ServerSettings, 'consoleOidcScopes'>,
  { domain }: Names,
  providers: IdentityProviders['providers'],
): Console =>
  createConsole(consoleFolder(), () => ({
    domain,
    scopes: ['openid', ...scopes.filter((scope) => scope !== 'openid')],
    issuers: providers().map(issuerOf),
  }));

function issuerOf({
  issuer,
  audiences: [clientId = ''],
  discoveryUrl,
  tokenEndpoint,
}: DiscoveredProvider): ConsoleIssuer {
  const documentUrl = discoveryUrl ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const origins = [issuer, documentUrl, tokenEndpoint].flatMap((url) =>
    url === undefined ? [] : (originOf(url) ?? []),
  );
  return { url: issuer, clientId, discoveryUrl: documentUrl, origins: [...new Set(origins)] };
}

/** The longest host name (RFC 1035, 2.3.4). */
const maxHost = 253;

/**
 * The origin of a URL as a content security policy names it; undefined where that would be another source: URLs allow hosts
 * with `*`, `,` and `;`, which have a meaning there.
 */
export function originOf(url: string): string | undefined {
  const { protocol, hostname, origin } = new URL(url);
  const isPlain = /^(?:[\w.-]+|\[[\da-f:]+\])$/.test(hostname) && hostname.length <= maxHost;
  return protocol === 'https:' && isPlain ? origin : undefined;
}

/** The folder of the console: next to the bundle of the server, and in the output of the build for the sources. */
function consoleFolder(): URL {
  const bundled = new URL('../console/', import.meta.url);
  return existsSync(new URL('files.json', bundled)) ? bundled : new URL('../../../dist/console/', import.meta.url);
}

/** The verbs by which the page of the console is read. */
const readVerbs: ReadonlySet<string> = new Set(['get', 'head']);

/** Takes everybody who asks for the page of the console as anonymous, whatever the credentials. */
export function admitToConsole(authenticate: Authenticator): Authenticator {
  const anonymous = anonymousAuthenticator();
  return (credentials) => (isConsolePath(credentials.path ?? '') ? anonymous : authenticate)(credentials);
}

/** Allows everybody to read the page of the console: its files have no data, and what it shows is authorized by itself. */
export const allowConsole = (authorize: Authorizer): Authorizer =>
  Object.assign(
    (attributes: Parameters<Authorizer>[0]) =>
      attributes.resource === undefined && isConsolePath(attributes.path) && readVerbs.has(attributes.verb)
        ? { allowed: true, reason: 'everybody may read the page of the console' }
        : authorize(attributes),
    authorize.rulesFor === undefined ? {} : { rulesFor: authorize.rulesFor },
  );
