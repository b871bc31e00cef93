import type { Attributes, Authorizer } from '../auth/index.ts';
import { type Names, quote, statusError, type User } from '../meta/index.ts';
import type { RequestHeaders } from './types.ts';

/** Whether a request speaks for someone else. */
export function impersonates(headers: RequestHeaders): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}

/** Whom a request asks to speak for, and every right that this takes. Throws the 400 StatusError when it names no user. */
function impersonated(
  headers: RequestHeaders,
  names: Names,
): { readonly user: User; readonly rights: readonly NonNullable<Attributes['resource']>[] } {
  const name = headers['impersonate-user'] ?? '';
  const uid = headers['impersonate-uid'] ?? '';
  const asked = listed(headers['impersonate-group']);
  const extra = extraOf(headers);
  if (name === '') {
    const user = `&user.DefaultInfo{Name:"", UID:${quote(uid)}, Groups:${goTexts(asked)}, Extra:${goExtra(extra)}}`;
    throw statusError.badRequest(`requested ${user} without impersonating a user name`);
  }
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
  const reviews = `authentication.${names.domain}`;
  const rights = [
    account === null ? right('', 'users', name) : right('', 'serviceaccounts', account[2] ?? '', account[1]),
    ...asked.map((group) => right('', 'groups', group)),
    ...(uid === '' ? [] : [right(reviews, 'uids', uid)]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => ({ ...right(reviews, 'userextras', value), subresource: key })),
    ),
  ];
  const groups = new Set(asked);
  if (account !== null && asked.length === 0) {
    groups.add('system:serviceaccounts').add(`system:serviceaccounts:${account[1]}`);
  }
  groups.add(name === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated');
  return { user: { name, groups: [...groups], extra, ...(uid === '' ? {} : { uid }) }, rights };
}

/** The user for whom a request speaks, after asking whether its sender may. Throws the 403 StatusError when not. */
export async function impersonate(
  sender: User,
  headers: RequestHeaders,
  authorize: Authorizer,
  names: Names,
  refuse: (attributes: Attributes, reason: string) => Error,
): Promise<User> {
  const { user, rights } = impersonated(headers, names);
  for (const resource of rights) {
    const attributes: Attributes = { user: sender, verb: 'impersonate', resource, path: '' };
    const { allowed, reason } = await authorize(attributes);
    if (!allowed) throw refuse(attributes, reason);
  }
  return user;
}

// As the wire's message shows what it was asked for.
const goTexts = (texts: readonly string[]): string =>
  texts.length === 0 ? '[]string(nil)' : `[]string{${texts.map(quote).join(', ')}}`;

function goExtra(extra: { readonly [key: string]: readonly string[] }): string {
  const entries = Object.keys(extra).sort();
  if (entries.length === 0) return 'map[string][]string(nil)';
  return `map[string][]string{${entries.map((key) => `${quote(key)}:${goTexts(extra[key] ?? [])}`).join(', ')}}`;
}

const right = (group: string, resource: string, name: string, namespace = '') => ({
  group,
  version: 'v1',
  resource,
  subresource: '',
  namespace,
  name,
});

/** Several headers of one name reach us as one, with commas. */
const listed = (value: string | undefined): string[] =>
  (value ?? '').split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));

/** `Impersonate-Extra-<key>`: the key is percent-encoded where a header name could not hold it. */
function extraOf(headers: RequestHeaders): { [key: string]: string[] } {
  const prefix = 'impersonate-extra-';
  const entries = Object.keys(headers)
    .filter((name) => name.startsWith(prefix))
    .map((name) => [decode(name.slice(prefix.length)), listed(headers[name])] as const);
  return Object.fromEntries(entries);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
