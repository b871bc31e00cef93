import { statusError, type User } from '../meta/index.ts';
import { type ClientCertificateOptions, certificateCheck } from './client-certificates.ts';
import { authenticatedGroups } from './groups.ts';
import type { Authenticator, SentHeaders } from './types.ts';

/** The headers in which an authenticating proxy names the user, in order of preference. In lower case. */
export interface RequestHeaderNames {
  readonly user: readonly string[];
  readonly uid: readonly string[];
  readonly group: readonly string[];
  readonly extraPrefix: readonly string[];
}

export interface RequestHeaderSettings {
  /** The common names of the certificates of proxies; empty: any. */
  readonly allowedNames: readonly string[];
  readonly names: RequestHeaderNames;
}

export interface RequestHeaderOptions extends ClientCertificateOptions {
  /** The current settings. */
  readonly settings: () => RequestHeaderSettings;
}

const standard: RequestHeaderNames = {
  user: ['x-remote-user'],
  uid: ['x-remote-uid'],
  group: ['x-remote-group'],
  extraPrefix: ['x-remote-extra-'],
};

/**
 * Whether a header, by its lower-case name, says who the user is: nobody behind the authentication may see it. The
 * standard names always do. Some servers read an underscore as a hyphen. `settings`: the current ones.
 */
export function identityHeaders(settings: () => RequestHeaderSettings): (name: string) => boolean {
  let known: RequestHeaderSettings | undefined;
  let isIdentity: (name: string) => boolean = () => true;
  return (name) => {
    const current = settings();
    if (current !== known) isIdentity = identityIn(current.names);
    known = current;
    return isIdentity(name);
  };
}

function identityIn(names: RequestHeaderNames): (name: string) => boolean {
  const all = [standard, names];
  const exact = new Set(all.flatMap(({ user, uid, group }) => [...user, ...uid, ...group]).map(hyphens));
  const prefixes = ['impersonate-', ...all.flatMap(({ extraPrefix }) => extraPrefix).map(hyphens)];
  return (name) => {
    const plain = hyphens(name);
    return exact.has(plain) || prefixes.some((prefix) => plain.startsWith(prefix));
  };
}

const hyphens = (name: string) => name.replaceAll('_', '-');

const refused = statusError.unauthorized();

/**
 * Authenticates the user whom a proxy names in headers, over a connection with a certificate of the pool and an allowed
 * common name. Without a certificate, or without a user name, it has no opinion; another certificate is a 401 unless
 * another authenticator trusts it.
 */
export function requestHeaderAuthenticator({ settings, ...options }: RequestHeaderOptions): Authenticator {
  const trusted = certificateCheck(options);
  return ({ certificate, sent }) => {
    if (certificate?.own === undefined) return undefined;
    const userFromHeaders = () => {
      const { allowedNames, names } = settings();
      if (allowedNames.length > 0 && !allowedNames.includes(certificate.commonName)) throw refused;
      return sent === undefined ? undefined : namedUser(sent, names);
    };
    const until = trusted(certificate);
    if (until === undefined) return undefined;
    return until instanceof Promise ? until.then(userFromHeaders) : userFromHeaders();
  };
}

function namedUser(sent: SentHeaders, { user, uid, group, extraPrefix }: RequestHeaderNames): User | undefined {
  const name = firstValue(sent, user);
  if (name === '') return undefined;
  const groups = group.flatMap((header) => headerValues(sent, header)).filter((value) => value !== '');
  const extra = new Map<string, string[]>();
  for (const prefix of extraPrefix) addExtra(extra, sent, prefix);
  const id = firstValue(sent, uid);
  return {
    name,
    groups: authenticatedGroups(name, groups),
    ...(id === '' ? {} : { uid: id }),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}

/** The first value of the first header that is not empty there. */
const firstValue = (sent: SentHeaders, names: readonly string[]): string =>
  names.map((name) => headerValues(sent, name)[0] ?? '').find((value) => value !== '') ?? '';

/** The values of a header, each time that it was sent; a comma belongs to its value. */
export function headerValues(sent: SentHeaders, name: string): readonly string[] {
  const value = sent.headers[name];
  return value === undefined ? [] : (sent.headerValues?.(name) ?? [value]);
}

/** Adds the values of all headers that begin with the prefix: the rest of the name, percent-decoded, is the key. */
export function addExtra(extra: Map<string, string[]>, sent: SentHeaders, prefix: string): void {
  for (const header in sent.headers) {
    if (!header.startsWith(prefix)) continue;
    const key = decoded(header.slice(prefix.length));
    extra.set(key, [...(extra.get(key) ?? []), ...headerValues(sent, header)]);
  }
}

/** Text that is not percent-encoded UTF-8 stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
