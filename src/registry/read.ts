import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CachedObject, Snapshot } from '../cache/index.ts';
import { type StatusError, statusError } from '../meta/index.ts';
import { type Store, StoreError } from '../store/index.ts';
import { consistentCache, type RegistryContext, waitForRevision } from './context.ts';
import { checkListOptions, readNumbers, readVersion } from './parameters.ts';
import { checkName, keyOf, rangeOf, type Selection, select } from './selection.ts';
import { describe } from './stored/describe.ts';
import { isCorrupt, unreadable } from './stored/read.ts';
import { formatToken, type Place, readToken } from './token.ts';
import type { ObjectList, ReadOptions, Target } from './types.ts';

/** The object itself, as new as the request asks for. @throws StatusError 404 when there is none */
export async function get(registry: RegistryContext, target: Target, options: ReadOptions): Promise<CachedObject> {
  const { resource, name } = target;
  checkName(target);
  const revision = readVersion(options.resourceVersion, 'get');
  const cache = await (revision === undefined
    ? consistentCache(registry, resource)
    : waitForRevision(resource, revision));
  const key = keyOf(resource, target);
  const object = key === undefined ? undefined : cache.snapshot().get(key);
  if (object === undefined) throw statusError.notFound(resource.id, name);
  if (isCorrupt(object)) throw unreadable(object);
  return object;
}

/** A collection, or a piece of one, as new as the request asks for. */
export async function list(registry: RegistryContext, target: Target, options: ReadOptions): Promise<ObjectList> {
  const { resource } = target;
  const { limit } = readNumbers(options);
  checkListOptions(options, registry.names);
  const selection = select(target, options);
  const { resourceVersionMatch: match = '', continue: token = '' } = options;
  if (token !== '') {
    if ((options.resourceVersion ?? '') !== '' && options.resourceVersion !== '0') {
      throw statusError.badRequest('specifying resource version is not allowed when using continue');
    }
    return resume(registry, target, options, selection, limit);
  }
  const revision = readVersion(options.resourceVersion, 'list');
  const paged = limit === 0 ? undefined : { limit, scope: scopeOf(target, options), began: registry.clock.now() };
  if (revision !== undefined && revision > 0 && (match === 'Exact' || (match === '' && limit > 0))) {
    return exactly(registry, target, selection, revision, paged, '');
  }
  const cache = await (revision === undefined
    ? consistentCache(registry, resource)
    : waitForRevision(resource, revision));
  return fromSnapshot(registry, target, selection, cache.snapshot(), paged, '');
}

/** How a list is cut: pieces of at most `limit`, whose tokens are good for `scope`, and when it began (ms since 1970). */
interface Paging {
  readonly limit: number;
  readonly scope: string;
  readonly began: number;
}

const tokenFor = ({ tokenKey }: RegistryContext, { scope, began }: Paging, revision: number, after: string): string =>
  formatToken(tokenKey, scope, { revision, after, began });

const scopeOf = ({ resource, namespace }: Target, { labelSelector = '', fieldSelector = '' }: ReadOptions): string =>
  JSON.stringify([resource.keyPrefix, namespace, labelSelector, fieldSelector]);

/** The next piece of a list. */
async function resume(
  registry: RegistryContext,
  target: Target,
  options: ReadOptions,
  selection: Selection,
  limit: number,
): Promise<ObjectList> {
  const scope = scopeOf(target, options);
  const place = readToken(registry.tokenKey, scope, options.continue ?? '');
  const { revision, after } = place;
  const now = registry.clock.now();
  if (revision === 0) {
    const cache = await consistentCache(registry, target.resource);
    const paged = limit === 0 ? undefined : { limit, scope, began: now };
    return fromSnapshot(registry, target, selection, cache.snapshot(), paged, after);
  }
  if (registry.historyMs > 0 && now - place.began >= registry.historyMs) throw tooOld(registry, scope, place);
  try {
    const paged = limit === 0 ? undefined : { limit, scope, began: place.began };
    return await exactly(registry, target, selection, revision, paged, after);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'compacted') throw error;
    throw tooOld(registry, scope, place);
  }
}

/** Tells that a list cannot be continued as it was, with a token for the rest of it as it is. */
function tooOld(registry: RegistryContext, scope: string, place: Place): StatusError {
  return statusError.expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    { continue: formatToken(registry.tokenKey, scope, { ...place, revision: 0 }) },
  );
}

/** The state at one revision: a snapshot when one is at hand, else what the store remembers. */
async function exactly(
  registry: RegistryContext,
  target: Target,
  selection: Selection,
  revision: number,
  paged: Paging | undefined,
  after: string,
): Promise<ObjectList> {
  const { resource } = target;
  const cache = await waitForRevision(resource, revision);
  const present = cache.snapshot();
  const snapshot = present.revision === revision ? present : resource.history?.at(revision);
  if (snapshot !== undefined) return fromSnapshot(registry, target, selection, snapshot, paged, after);
  return fromStore(registry, target, selection, revision, paged, after);
}

async function fromSnapshot(
  registry: RegistryContext,
  { resource }: Target,
  selection: Selection,
  snapshot: Snapshot,
  paged: Paging | undefined,
  after: string,
): Promise<ObjectList> {
  const { revision } = snapshot;
  const items = inRange(resource, selection, snapshot, after);
  const { limit } = paged ?? {};
  // One more than the page holds tells that there is more.
  const most = limit === undefined ? Number.POSITIVE_INFINITY : limit + 1;
  const readable = resource.format.corrupt.size === 0;
  if (limit === undefined && selection.matches === undefined && readable) return whole(revision, items);
  const page = await gather(items, selection.matches, most);
  if (paged === undefined) return whole(revision, page);
  const more = page.length === most;
  if (more) page.pop();
  const last = page.at(-1);
  if (!more || last === undefined) return whole(revision, page);
  resource.history?.keep(snapshot);
  const range = rangeOf(resource, selection);
  const token = tokenFor(registry, paged, revision, last.key.slice(range.length));
  const remaining = selection.filtered ? undefined : snapshot.count(range, last.key);
  return { revision, items: page, continue: () => token, remaining: () => remaining };
}

/** So many objects are looked at before others get their turn. */
const slice = 1_000;

/**
 * Those that match, at most so many, without holding anybody up however few they are.
 * @throws StatusError 500 when one of them cannot be read, but for the last that there is room for
 */
async function gather(
  items: Iterable<CachedObject>,
  matches: Selection['matches'],
  most: number,
): Promise<CachedObject[]> {
  const found: CachedObject[] = [];
  let seen = 0;
  for (const object of items) {
    const corrupt = isCorrupt(object);
    if (corrupt && found.length + 1 < most) throw unreadable(object);
    if (corrupt || matches?.(object) !== false) {
      found.push(object);
      if (found.length === most) break;
    }
    if (++seen % slice === 0) await nextTurn();
  }
  return found;
}

const whole = (revision: number, items: Iterable<CachedObject>): ObjectList => ({
  revision,
  items,
  continue: () => '',
  remaining: () => undefined,
});

/**
 * The objects of a snapshot that namespace and name choose, in key order, found as they are asked for. Which of them
 * match is left to the caller, who may take time for it. `after` is a key without its range.
 */
export function inRange(
  resource: Target['resource'],
  selection: Selection,
  snapshot: Snapshot,
  after = '',
): Iterable<CachedObject> {
  const range = rangeOf(resource, selection);
  const key = keyOf(resource, selection);
  if (key !== undefined) {
    const object = snapshot.get(key);
    return object !== undefined && key.slice(range.length) > after ? [object] : [];
  }
  return after === '' ? snapshot.range(range) : snapshot.range(range, range + after);
}

/** How many entries are asked of the store at a time. */
const batch = 500;

/** A list of an old state, read from the store piece by piece, with a turn for everybody else between them. */
async function fromStore(
  registry: RegistryContext,
  { resource }: Target,
  selection: Selection,
  revision: number,
  paged: Paging | undefined,
  after: string,
): Promise<ObjectList> {
  const { format } = resource;
  const prefix = rangeOf(resource, selection);
  const limit = paged?.limit ?? Number.POSITIVE_INFINITY;
  const all = selection.name === '' && selection.matches === undefined;
  const page: CachedObject[] = [];
  let from = after === '' ? undefined : prefix + after;
  for (;;) {
    const found = await registry.store.list({
      prefix,
      revision,
      // One more than the page needs tells that there is more.
      limit: Math.min(batch, all ? limit - page.length + 1 : batch),
      ...(from === undefined ? {} : { after: from }),
    });
    for (const entry of found.entries) {
      const object = describe(format, entry);
      if (selection.name !== '' && object.name !== selection.name) continue;
      const corrupt = isCorrupt(object);
      if (!corrupt && selection.matches?.(object) === false) continue;
      const last = page.at(-1);
      if (paged !== undefined && page.length === limit && last !== undefined) {
        const token = tokenFor(registry, paged, revision, last.key.slice(prefix.length));
        const remaining = selection.filtered
          ? undefined
          : await countBehind(registry.store, prefix, last.key, revision);
        return { revision, items: page, continue: () => token, remaining: () => remaining };
      }
      if (corrupt) throw unreadable(object);
      page.push(object);
    }
    from = found.entries.at(-1)?.key;
    if (!found.more || from === undefined) return whole(revision, page);
    await nextTurn();
  }
}

async function countBehind(store: Store, prefix: string, after: string, revision: number): Promise<number | undefined> {
  return (await store.list({ prefix, after, revision, limit: 0, count: true })).remaining;
}
