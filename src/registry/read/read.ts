import type { CachedObject, Snapshot } from '../../cache/index.ts';
import { type StatusError, serverTurns, statusError, type Turns } from '../../meta/index.ts';
import { pagesOf, StoreError } from '../../store/index.ts';
import { type RegistryContext, toStatusError, waitForRevision } from '../context.ts';
import type { Resource } from '../resource/resource.ts';
import { checkName, keyOf, objectKey, rangeOf } from '../resource/target.ts';
import { convertAll, reconvert, toOwnVersion } from '../stored/convert.ts';
import { toCachedObject } from '../stored/describe.ts';
import { isCorrupt, unreadable } from '../stored/read.ts';
import type { ObjectList, ReadOptions, Registry, Target } from '../types.ts';
import { getExact } from './exact.ts';
import { checkGetOptions, checkListOptions, readNumbers, readVersion } from './parameters.ts';
import { type Selection, select } from './selection.ts';
import { formatToken, type Place, readToken } from './token.ts';
import { Unreadables } from './unreadables.ts';
import { getVirtual } from './virtual-list.ts';

/** See `Registry.get`. */
export const createGet =
  (registry: RegistryContext): Registry['get'] =>
  async (target, options) => {
    const { resource, name } = target;
    try {
      if (registry.objectHistory && options.resourceVersionMatch) {
        checkGetOptions(options, registry.names);
        if (options.resourceVersionMatch === 'Exact') return await getExact(registry, target, options);
      }
      if (resource.definition.virtual === true) return await getVirtual(registry, target);
      const { resourceVersion = '' } = options;
      const revision = resourceVersion === '' ? await registry.store.revision() : minRevision(target, resourceVersion);
      const { cache, format } = resource.storage;
      if (cache.revision < Math.max(revision, 1)) await waitForRevision(resource, revision);
      const object = cache.get(objectKey(resource, target));
      if (object === undefined) {
        checkName(target);
        throw statusError.notFound(resource.id, name);
      }
      if (format.corrupt.size > 0 && isCorrupt(object)) throw unreadable(object);
      if (format.custom?.webhook === undefined) return object;
      // A read of the latest version calls the webhook again. Others, lists and watches take its last result.
      return await (resourceVersion === '' ? reconvert : toOwnVersion)(format, object, options.turns);
    } catch (error) {
      throw toStatusError(resource.id, error);
    }
  };

/** The minimum revision of a read. @throws StatusError 400 for the name, 500 for the resourceVersion */
function minRevision(target: Target, resourceVersion: string): number {
  checkName(target);
  return readVersion(resourceVersion, 'get') ?? 0;
}

/** A collection or a page of it. */
export async function list(registry: RegistryContext, target: Target, options: ReadOptions): Promise<ObjectList> {
  const selection = select(target, options);
  const found = await listCached(registry, target, options, selection);
  const { format } = target.resource;
  if (format.custom?.webhook === undefined) return found;
  const { objects, failure } = await convertAll(format, found.items, options.turns ?? serverTurns());
  if (failure !== undefined) throw failure.error;
  const { matchesConverted } = selection;
  // Objects that do not match are missing in the page.
  return { ...found, items: matchesConverted === undefined ? objects : objects.filter(matchesConverted) };
}

/** The list as it is cached: resolve where to start, choose the state to read, read it. */
async function listCached(
  registry: RegistryContext,
  target: Target,
  options: ReadOptions,
  selection: Selection,
): Promise<ObjectList> {
  const { limit } = readNumbers(options);
  checkListOptions(options, registry.names);
  const scope = scopeOf(target, options);
  const start = options.continue ? resume(registry, options, scope) : begin(registry, options, limit);
  const plan: ListPlan = {
    resource: target.resource,
    selection,
    scope,
    ...(await findState(registry, target.resource, start)),
    after: start.after,
    began: start.began,
    limit: limit === 0 ? Number.POSITIVE_INFINITY : limit,
    turns: options.turns ?? serverTurns(),
  };
  if (plan.snapshot !== undefined) return listSnapshot(registry, plan, plan.snapshot);
  try {
    return await listStore(registry, plan);
  } catch (error) {
    if (!options.continue || !(error instanceof StoreError) || error.code !== 'compacted') throw error;
    throw expiredToken(registry, scope, plan);
  }
}

/** The state that a request reads, and where it starts. */
interface ListStart {
  /** Undefined: the latest. */
  readonly revision: number | undefined;
  /** Whether the state is that of exactly `revision`, or any from then on. */
  readonly exact: boolean;
  /** The last key of the page before, without the prefix of its range; empty on the first page. */
  readonly after: string;
  /** When the first page was read (ms since 1970). */
  readonly began: number;
}

/** The plan of one request for a list. */
interface ListPlan extends State {
  readonly resource: Resource;
  readonly selection: Selection;
  /** The request that its continue tokens are good for. */
  readonly scope: string;
  readonly after: string;
  readonly began: number;
  /** Infinity: no pages. */
  readonly limit: number;
  /** The turns in which objects are looked for. */
  readonly turns: Turns;
}

/** A state of a resource. */
interface State {
  readonly revision: number;
  /** Undefined: the state is read from the history of the store. */
  readonly snapshot: Snapshot | undefined;
}

const scopeOf = ({ resource, namespace }: Target, { labelSelector, fieldSelector }: ReadOptions): string =>
  JSON.stringify([resource.keyPrefix, namespace, labelSelector?.text ?? '', fieldSelector?.text ?? '']);

/** The start of a first page. @throws StatusError 400 */
function begin(registry: RegistryContext, options: ReadOptions, limit: number): ListStart {
  const { resourceVersion, resourceVersionMatch: match = '' } = options;
  const revision = readVersion(resourceVersion, 'list');
  const exact = revision !== undefined && revision > 0 && (match === 'Exact' || (match === '' && limit > 0));
  return { revision, exact, after: '', began: registry.clock.now() };
}

/** The start of a page that a continue token names. @throws StatusError 400, 410 */
function resume(registry: RegistryContext, options: ReadOptions, scope: string): ListStart {
  const place = readToken(registry.tokenKey, scope, options.continue ?? '');
  if ((options.resourceVersion ?? '') !== '' && options.resourceVersion !== '0') {
    throw statusError.badRequest('specifying resource version is not allowed when using continue');
  }
  const { revision, after, began } = place;
  const now = registry.clock.now();
  if (revision === 0) return { revision: undefined, exact: false, after, began: now };
  if (registry.historyMs > 0 && now - began >= registry.historyMs) throw expiredToken(registry, scope, place);
  return { revision, exact: true, after, began };
}

/** The error for a list that can no longer be continued consistently, with a token for the rest at the latest revision. */
function expiredToken(registry: RegistryContext, scope: string, { after, began }: Place): StatusError {
  return statusError.expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    { continue: formatToken(registry.tokenKey, scope, { revision: 0, after, began }) },
  );
}

/** The state to read: in the cache, or, when it is older than what the cache has kept, in the store. */
async function findState(
  registry: RegistryContext,
  resource: Resource,
  { revision, exact }: ListStart,
): Promise<State> {
  const cache = await waitForRevision(resource, revision ?? (await registry.store.revision()));
  const latest = cache.snapshot();
  if (revision === undefined || !exact || latest.revision === revision) {
    return { revision: latest.revision, snapshot: latest };
  }
  return { revision, snapshot: resource.storage.listSnapshots?.at(revision) };
}

async function listSnapshot(registry: RegistryContext, plan: ListPlan, snapshot: Snapshot): Promise<ObjectList> {
  const { resource, selection, revision, after, limit, turns } = plan;
  const items = inRange(resource, selection, snapshot, after);
  const readable = resource.format.corrupt.size === 0;
  if (limit === Number.POSITIVE_INFINITY && selection.matches === undefined && readable) return whole(revision, items);
  // One more than the page holds shows that another page follows.
  const unreadables = new Unreadables(registry, resource);
  const page = await gather(items, selection, { most: limit + 1, turns, unreadables });
  if (page.length <= limit) return whole(revision, page);
  page.pop();
  resource.storage.listSnapshots?.keep(snapshot);
  return cut(registry, plan, page, (last) => snapshot.count(rangeOf(resource, selection), last));
}

/** Between two looks at the clock this many requirements are evaluated, or as many objects are taken. */
const stride = 64;

/** After how many objects of a selection work looks at the clock. */
export const strideOf = ({ cost }: Pick<Selection, 'cost'>): number => Math.max(1, Math.floor(stride / (cost + 1)));

/**
 * The first `most` matching objects, in turns however few match.
 * @throws StatusError 500 for a corrupt object, unless it is the last of `most`
 */
async function gather(
  items: Iterable<CachedObject>,
  selection: Selection,
  { most, turns, unreadables }: { readonly most: number; readonly turns: Turns; readonly unreadables: Unreadables },
): Promise<CachedObject[]> {
  const { matches } = selection;
  const found: CachedObject[] = [];
  const every = strideOf(selection);
  let seen = 0;
  for (const object of items) {
    if (seen++ % every === 0 && turns.over) await turns.next();
    const corrupt = isCorrupt(object);
    if (corrupt && found.length + 1 < most) unreadables.add(object);
    if (corrupt || matches?.(object) !== false) {
      found.push(object);
      if (found.length === most) break;
    }
  }
  unreadables.check();
  return found;
}

const whole = (revision: number, items: Iterable<CachedObject>): ObjectList => ({
  revision,
  items,
  continue: () => '',
  remaining: () => undefined,
});

/**
 * The objects of a snapshot in the selection's namespace and of its name, lazily, in key order; some that do not match may
 * be left out. The caller applies `matches`, in slices. `after` is a key without the prefix of the range.
 */
export function inRange(
  resource: Resource,
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
  const behind = after === '' ? undefined : range + after;
  const selected = selection.labels.length === 0 ? undefined : snapshot.select(selection.labels, range, behind);
  return selected ?? snapshot.range(range, behind);
}

/** A page that others follow; `countAfter` counts the objects of the range behind a key. */
async function cut(
  registry: RegistryContext,
  { resource, selection, revision, scope, began }: ListPlan,
  items: readonly CachedObject[],
  countAfter: (key: string) => number | undefined | Promise<number | undefined>,
): Promise<ObjectList> {
  const last = items.at(-1)?.key ?? '';
  const after = last.slice(rangeOf(resource, selection).length);
  const token = formatToken(registry.tokenKey, scope, { revision, after, began });
  const remaining = selection.filtered ? undefined : await countAfter(last);
  return { revision, items, continue: () => token, remaining: () => remaining };
}

/** Reads the state at an old revision from the store. */
async function listStore(registry: RegistryContext, plan: ListPlan): Promise<ObjectList> {
  const { store } = registry;
  const { resource, selection, revision, after, limit, turns } = plan;
  const prefix = rangeOf(resource, selection);
  const all = selection.name === '' && selection.matches === undefined;
  const range = {
    prefix,
    revision,
    ...(after === '' ? {} : { after: prefix + after }),
    // One more than the page needs shows that another page follows.
    ...(all && limit !== Number.POSITIVE_INFINITY ? { limit: limit + 1 } : {}),
  };
  const unreadables = new Unreadables(registry, resource);
  const page: CachedObject[] = [];
  for await (const { entries } of pagesOf(store, range, turns)) {
    for (const entry of entries) {
      if (turns.over) await turns.next();
      const object = toCachedObject(resource.format, entry);
      if (selection.name !== '' && object.name !== selection.name) continue;
      const corrupt = isCorrupt(object);
      if (!corrupt && selection.matches?.(object) === false) continue;
      if (page.length === limit) {
        unreadables.check();
        return cut(registry, plan, page, async (last) => {
          const counted = await store.list({ prefix, after: last, revision, limit: 0, count: true });
          return counted.remaining;
        });
      }
      if (corrupt) unreadables.add(object);
      page.push(object);
    }
  }
  unreadables.check();
  return whole(revision, page);
}
