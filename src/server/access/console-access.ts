import { type Authenticator, type Authorizer, anonymousAuthenticator } from '../../auth/index.ts';
import { isConsolePath } from '../../http/index.ts';

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
