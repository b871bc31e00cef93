import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CachedObject, Snapshot } from '../cache/index.ts';
import { type StatusError, statusError } from '../meta/index.ts';
import { type Store, StoreError } from '../store/index.ts';
import { describe, isCorrupt } from './bytes.ts';
import { type Core, current, reached } from './core.ts';
import { checkListOptions, readNumbers, readVersion } from './parameters.ts';
import { checkName, keyOf, rangeOf, type Selection, select } from './selection.ts';
import { formatToken, readToken } from './token.ts';
import type { ObjectList, ReadOptions, Target } from './types.ts';

/** The object itself, as new as the request asks for. @throws StatusError 404 when there is none */
export async function get(core: Core, target: Target, options: ReadOptions): Promise<CachedObject> {
  const { resource, name } = target;
  checkName(target);
  const revision = readVersion(options.resourceVersion, 'get');
  const cache = await (revision === undefined ? current(core, resource) : reached(resource, revision));
  const key = keyOf(resource, target);
  const object = key === undefined ? undefined : cache.snapshot().get(key);
  if (object === undefined) throw statusError.notFound(resource.id, name);
  if (isCorrupt(object)) throw unreadable(object);
  return object;
}

export const unreadable = ({ name }: CachedObject): StatusError =>
  statusError.internal(`the stored object ${JSON.stringify(name)} cannot be read`);

/** A collection, or a piece of one, as new as the request asks for. */
export async function list(core: Core, target: Target, options: ReadOptions): Promise<ObjectList> {
  const { resource } = target;
  const { limit } = readNumbers(options);
  checkListOptions(options, core.names);
  const selection = select(target, options);
  const { resourceVersionMatch: match = '', continue: token = '' } = options;
  if (token !== '') {
    if ((options.resourceVersion ?? '') !== '' && options.resourceVersion !== '0') {
      throw statusError.badRequest('specifying resource version is not allowed when using continue');
    }
    return resume(core, target, options, selection, limit);
  }
  const revision = readVersion(options.resourceVersion, 'list');
  const paged = limit === 0 ? undefined : { limit, scope: scopeOf(target, options) };
  if (revision !== undefined && revision > 0 && (match === 'Exact' || (match === '' && limit > 0))) {
    return exactly(core, target, selection, revision, paged, '');
  }
  const cache = await (revision === undefined ? current(core, resource) : reached(resource, revision));
  return fromSnapshot(core, target, selection, cache.snapshot(), paged, '');
}

/** How a list is cut: pieces of at most `limit`, whose tokens are good for `scope`. */
interface Paging {
  readonly limit: number;
  readonly scope: string;
}

const scopeOf = ({ resource, namespace }: Target, { labelSelector = '', fieldSelector = '' }: ReadOptions): string =>
  JSON.stringify([resource.keyPrefix, namespace, labelSelector, fieldSelector]);

/** The next piece of a list. */
async function resume(
  core: Core,
  target: Target,
  options: ReadOptions,
  selection: Selection,
  limit: number,
): Promise<ObjectList> {
  const scope = scopeOf(target, options);
  const { revision, after } = readToken(core.tokenKey, scope, options.continue ?? '');
  const paged = limit === 0 ? undefined : { limit, scope };
  if (revision === 0) {
    const cache = await current(core, target.resource);
    return fromSnapshot(core, target, selection, cache.snapshot(), paged, after);
  }
  try {
    return await exactly(core, target, selection, revision, paged, after);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'compacted') throw error;
    throw statusError.expired(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
      { continue: formatToken(core.tokenKey, scope, { revision: 0, after }) },
    );
  }
}

/** The state at one revision: a snapshot when one is at hand, else what the store remembers. */
async function exactly(
  core: Core,
  target: Target,
  selection: Selection,
  revision: number,
  paged: Paging | undefined,
  after: string,
): Promise<ObjectList> {
  const { resource } = target;
  const cache = await reached(resource, revision);
  const present = cache.snapshot();
  const snapshot = present.revision === revision ? present : resource.history?.at(revision);
  if (snapshot !== undefined) return fromSnapshot(core, target, selection, snapshot, paged, after);
  return fromStore(core, target, selection, revision, paged, after);
}

async function fromSnapshot(
  core: Core,
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
  if (limit === undefined && selection.matches === undefined) return whole(revision, items);
  const page = await gather(items, selection.matches, most);
  if (paged === undefined) return whole(revision, page);
  const more = page.length === most;
  if (more) page.pop();
  const last = page.at(-1);
  if (!more || last === undefined) return whole(revision, page);
  resource.history?.keep(snapshot);
  const range = rangeOf(resource, selection);
  const token = formatToken(core.tokenKey, paged.scope, { revision, after: last.key.slice(range.length) });
  const remaining = selection.filtered ? undefined : snapshot.count(range, last.key);
  return { revision, items: page, continue: () => token, remaining: () => remaining };
}

/** So many objects are looked at before others get their turn. */
const slice = 1_000;

/** Those that match, at most so many, without holding anybody up however few they are. */
async function gather(
  items: Iterable<CachedObject>,
  matches: Selection['matches'],
  most: number,
): Promise<CachedObject[]> {
  const found: CachedObject[] = [];
  let seen = 0;
  for (const object of items) {
    if (matches?.(object) !== false) {
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
  core: Core,
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
    const found = await core.store.list({
      prefix,
      revision,
      // One more than the page needs tells that there is more.
      limit: Math.min(batch, all ? limit - page.length + 1 : batch),
      ...(from === undefined ? {} : { after: from }),
    });
    for (const entry of found.entries) {
      const object = describe(format, entry);
      if ((selection.name !== '' && object.name !== selection.name) || selection.matches?.(object) === false) continue;
      const last = page.at(-1);
      if (paged !== undefined && page.length === limit && last !== undefined) {
        const token = formatToken(core.tokenKey, paged.scope, { revision, after: last.key.slice(prefix.length) });
        const remaining = selection.filtered ? undefined : await countBehind(core.store, prefix, last.key, revision);
        return { revision, items: page, continue: () => token, remaining: () => remaining };
      }
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
