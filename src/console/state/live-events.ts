/** Follows a resource: a list in chunks, and a watch that is opened again whenever it ends. */
import { metadataOnly, type Place, pagesOf, type TypedObject } from '../../client/index.ts';
import { StatusError } from '../../meta/index.ts';
import type { Session } from './session.ts';

export type LiveStatus = 'loading' | 'live' | 'reconnecting';

/** The representation in which objects are read. */
export type Representation = 'whole' | 'metadata' | 'table';

export interface LiveOptions<T extends TypedObject> {
  readonly session: Session;
  readonly place: Place;
  readonly signal: AbortSignal;
  readonly representation: Representation;
  readonly selection?: { readonly labelSelector?: string; readonly fieldSelector?: string };
  /** A list begins: what was known before may be outdated. */
  readonly onReset?: () => void;
  /** The next chunk of the list: a list of objects, or a table. */
  readonly onPage?: (page: {
    readonly items: T[];
    readonly metadata: { readonly remainingItemCount?: number };
  }) => void;
  /** A change after the list. */
  readonly onEvent: (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T) => void;
  readonly onStatus?: (status: LiveStatus) => void;
}

/** The first and the longest delay before another attempt (ms). */
const firstRetryMs = 250;
const lastRetryMs = 10_000;
/** The number of objects of a chunk. */
const chunkSize = 500;

/**
 * Follows the objects at a place until the signal is aborted. A lost connection is opened again at the version after the
 * last event, so that nothing is missed; where that version is compacted, the objects are listed again.
 * @throws StatusError when the server refuses the request: 400, 403, 404, 405
 */
export async function liveEvents<T extends TypedObject>(options: LiveOptions<T>): Promise<void> {
  const { signal, onStatus = () => {} } = options;
  let version = '';
  let failures = 0;
  onStatus('loading');
  while (!signal.aborted) {
    try {
      if (version === '') version = await list(options);
      for await (const { type, object } of await watch(options, version)) {
        failures = 0;
        version = versionOf(object) ?? version;
        if (type !== 'BOOKMARK') options.onEvent(type, object);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isRefused(error)) throw error;
      if (error instanceof StatusError && error.code === 410) version = '';
    }
    if (signal.aborted) return;
    onStatus('reconnecting');
    await pause(Math.min(firstRetryMs * 2 ** failures, lastRetryMs), signal);
    failures += 1;
  }
}

async function list<T extends TypedObject>(options: LiveOptions<T>): Promise<string> {
  const { session, place, signal, selection, onReset, onPage } = options;
  let version = '';
  onReset?.();
  const accept = acceptOf(options).list;
  for await (const page of pagesOf<T>(session.client, place, { ...selection, ...accept, limit: chunkSize, signal })) {
    onPage?.(page);
    version = page.metadata.resourceVersion;
  }
  return version;
}

async function watch<T extends TypedObject>(options: LiveOptions<T>, resourceVersion: string) {
  const { session, place, signal, selection, onStatus } = options;
  const accept = acceptOf(options).watch;
  const parameters = { ...selection, ...accept, resourceVersion, allowWatchBookmarks: true, signal };
  const opened = await session.client.watch<T>(place, parameters);
  onStatus?.('live');
  return opened;
}

function acceptOf({
  session: { names },
  representation,
}: Pick<LiveOptions<TypedObject>, 'session' | 'representation'>) {
  if (representation === 'whole') return { list: {}, watch: {} };
  if (representation === 'table') {
    const accept = `application/json;as=Table;g=meta.${names.domain};v=v1`;
    return { list: { accept }, watch: { accept } };
  }
  const of = metadataOnly(names);
  return { list: { accept: of.list }, watch: { accept: of.watch } };
}

/** The resourceVersion of an object, or of the only row of a table. */
function versionOf(object: TypedObject): string | undefined {
  const { rows } = object as { readonly rows?: readonly { readonly object?: TypedObject }[] };
  const own = object.metadata?.resourceVersion;
  return own === undefined || own === '' ? rows?.[0]?.object?.metadata?.resourceVersion : own;
}

const refused: ReadonlySet<number> = new Set([400, 401, 403, 404, 405]);

/** Whether the server has refused a request, and will again: the caller, the object or the request has to change first. */
export const isRefused = (error: unknown): boolean => error instanceof StatusError && refused.has(error.code);

/** Resolves after `ms`, or when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
