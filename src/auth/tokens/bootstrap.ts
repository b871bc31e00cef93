import { timingSafeEqual } from 'node:crypto';
import { type ApiObject, at, type Clock, type Names, type User } from '../../meta/index.ts';
import type { TokenAuthenticator } from '../types.ts';
import { forServer } from './bearer.ts';
import type { TokenObjects } from './types.ts';

interface BootstrapOptions {
  readonly names: Names;
  readonly clock: Pick<Clock, 'now'>;
  readonly objects: Pick<TokenObjects, 'get'>;
  /** The audiences of this API server. */
  readonly audiences: readonly string[];
}

const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const extraGroup = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** Authenticates bootstrap tokens `<id>.<secret>` by their secrets in the system namespace. */
export function bootstrapAuthenticator(options: BootstrapOptions): TokenAuthenticator {
  const { names, clock, objects, audiences: own } = options;
  return async (token, audiences) => {
    const [, id, secret] = tokenForm.exec(token) ?? [];
    if (id === undefined || secret === undefined) return undefined;
    const found = await objects.get('secrets', names.systemNamespace, `bootstrap-token-${id}`);
    const user = found && userOf(found, id, secret, names, clock.now());
    return user && forServer(user, audiences, own);
  };
}

/** Undefined when the secret is not that of the token, has expired, or is not for authentication. */
function userOf(stored: ApiObject, id: string, secret: string, names: Names, now: number): User | undefined {
  const data = (key: string): string => {
    const value = at(stored, 'data', key);
    return typeof value === 'string' ? Buffer.from(value, 'base64').toString() : '';
  };
  if (stored.metadata.deletionTimestamp !== undefined) return undefined;
  if (stored['type'] !== `bootstrap.${names.labels}/token`) return undefined;
  if (!sameText(data('token-secret'), secret) || data('token-id') !== id) return undefined;
  if (hasExpired(data('expiration'), now) || data('usage-bootstrap-authentication') !== 'true') return undefined;
  const extraGroups = data('auth-extra-groups');
  const groups = extraGroups === '' ? [] : extraGroups.split(',');
  if (!groups.every((group) => extraGroup.test(group))) return undefined;
  return { name: `system:bootstrap:${id}`, groups: ['system:bootstrappers', ...[...new Set(groups)].sort()] };
}

/** Takes the same time for any other text of that length. */
function sameText(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** An expiration that is not a time is over. */
function hasExpired(expiration: string, now: number): boolean {
  if (expiration === '') return false;
  return !rfc3339.test(expiration) || !(Date.parse(expiration) > now);
}
