import {
  type Attributes,
  type Authorizer,
  addExtra,
  headerValues,
  type SentHeaders,
  systemAnonymous,
  systemAuthenticated,
  systemUnauthenticated,
} from '../auth/index.ts';
import { dns1123Label, dns1123Subdomain, type Names, quote, statusError, type User } from '../meta/index.ts';

/** The user named by the impersonation headers; undefined: none. Throws a 400 StatusError when the name is missing. */
function parseHeaders(sent: SentHeaders): ImpersonatedUser | undefined {
  const [name = ''] = headerValues(sent, 'impersonate-user');
  const [uid = ''] = headerValues(sent, 'impersonate-uid');
  const groups = headerValues(sent, 'impersonate-group');
  const extra = new Map<string, string[]>();
  addExtra(extra, sent, 'impersonate-extra-');
  if (name !== '') return { name, uid, groups, extra };
  if (uid === '' && groups.length === 0 && extra.size === 0) return undefined;
  const user = `&user.DefaultInfo{Name:"", UID:${quote(uid)}, Groups:${goTexts(groups)}, Extra:${goExtra(extra)}}`;
  throw statusError.badRequest(`requested ${user} without impersonating a user name`);
}

interface ImpersonatedUser {
  readonly name: string;
  /** Empty: none. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** The attributes that the requester must be allowed to impersonate. */
function requiredRights(
  { name, uid, groups, extra }: ImpersonatedUser,
  names: Names,
): NonNullable<Attributes['resource']>[] {
  const account = serviceAccountOf(name);
  const authentication = `authentication.${names.domain}`;
  return [
    account === undefined ? right('', 'users', name) : right('', 'serviceaccounts', account.name, account.namespace),
    ...groups.map((group) => right('', 'groups', group)),
    ...(uid === '' ? [] : [right(authentication, 'uids', uid)]),
    ...[...extra].flatMap(([key, values]) =>
      values.map((value) => ({ ...right(authentication, 'userextras', value), subresource: key })),
    ),
  ];
}

/** The impersonated user with the groups that follow from its name. */
function toUser({ name, uid, groups: requestedGroups, extra }: ImpersonatedUser): User {
  const account = requestedGroups.length === 0 ? serviceAccountOf(name) : undefined;
  const groups =
    account === undefined
      ? [...requestedGroups]
      : ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`];
  if (!groups.includes(systemUnauthenticated)) {
    const own = name === systemAnonymous ? systemUnauthenticated : systemAuthenticated;
    if (!groups.includes(own)) groups.push(own);
  }
  return { name, groups, extra: Object.fromEntries(extra), ...(uid === '' ? {} : { uid }) };
}

/**
 * The effective user of a request: the impersonated one, each of whose attributes is authorized for the requester, or the
 * requester itself. Throws a 403 StatusError.
 */
export async function impersonate(
  sender: User,
  sent: SentHeaders,
  authorize: Authorizer,
  names: Names,
  refuse: (attributes: Attributes, reason: string) => Error,
): Promise<User> {
  const impersonated = parseHeaders(sent);
  if (impersonated === undefined) return sender;
  for (const resource of requiredRights(impersonated, names)) {
    const attributes: Attributes = { user: sender, verb: 'impersonate', resource, path: '' };
    const { allowed, reason } = await authorize(attributes);
    if (!allowed) throw refuse(attributes, reason);
  }
  return toUser(impersonated);
}

/** The service account of a user name such as `system:serviceaccount:ns:name`; undefined for others. */
function serviceAccountOf(user: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace = '', name = ''] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  return dns1123Label(namespace).length + dns1123Subdomain(name).length > 0 ? undefined : { namespace, name };
}

// Attributes in the form of messages of the reference server.
const goTexts = (texts: readonly string[]): string =>
  texts.length === 0 ? '[]string(nil)' : `[]string{${texts.map(quote).join(', ')}}`;

function goExtra(extra: ImpersonatedUser['extra']): string {
  const keys = [...extra.keys()].sort();
  if (keys.length === 0) return 'map[string][]string(nil)';
  return `map[string][]string{${keys.map((key) => `${quote(key)}:${goTexts(extra.get(key) ?? [])}`).join(', ')}}`;
}

const right = (group: string, resource: string, name: string, namespace = '') => ({
  group,
  version: 'v1',
  resource,
  subresource: '',
  namespace,
  name,
});
