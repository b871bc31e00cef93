import { flag } from './flag.ts';
import * as type from './flag-types.ts';

/** A scope token (RFC 6749, 3.3). */
const scopeProblem = (scope: string) =>
  /^[!#-[\]-~]+$/.test(scope) ? undefined : 'must be scopes: ASCII without spaces, quotation marks and backslashes';

/** The flags of the console. */
export const consoleFlags = {
  console: flag(
    'API',
    type.optionalBoolean,
    undefined,
    'Whether the console is served at `/console/`, a page to look at the cluster in a browser ([console.md](console.md)). If not set, it is served with `--demo`.',
  ),
  consoleOidcScopes: flag(
    'API',
    type.texts('scope', scopeProblem),
    ['profile', 'email'],
    'Scopes that the console requests from OpenID Connect providers in addition to `openid`: many providers issue a refresh token for `offline_access` only, and some the groups of the user for `groups` only ([console.md](console.md#openid-connect)).',
  ),
};
