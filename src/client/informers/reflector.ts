import { type ApiObject, type Clock, StatusError } from '../../meta/index.ts';
import type { Client } from '../client.ts';
import { pagesOf } from '../kinds/pages.ts';
import type { Place } from '../kinds/place.ts';
import type { ListOptions } from '../kinds/place-client.ts';
import type { Log } from '../runtime/log.ts';
import type { ClientWatchEvent } from '../transport/watch.ts';

export interface ReflectorOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** The name of the resource in the log. */
  readonly name: string;
  /** Resolves to the path of the objects; called again after each failure. @throws StatusError 404 when they are not served */
  readonly place: () => Promise<Place>;
  readonly selection?: Pick<ListOptions, 'labelSelector' | 'fieldSelector'>;
  /** The media types of lists and of watches; complete objects by default. */
  readonly accept?: { readonly list: string; readonly watch: string };
  /** Schedules each list; runs it at once by default. */
  readonly turn?: (list: () => Promise<void>) => Promise<void>;
}

/** Receives the objects of a resource and their changes. */
export interface ReflectorHandler {
  /** A list begins: the first one, or another one after missed changes. */
  readonly listing?: () => void;
  /** A page of the list. */
  readonly page: (objects: ApiObject[]) => void | Promise<void>;
  /** The list is complete. Changes follow once the result has resolved. */
  readonly listed: (revision: number) => void | Promise<void>;
  /** A change after the list, or a bookmark. */
  readonly event: (event: ClientWatchEvent<ApiObject>) => void;
  /** A list or watch failed and is retried later; 404 means that the resource is not served. */
  readonly failed?: (code: number) => void | Promise<void>;
  /** True while the reflector waits for the clock before it sends the next request. */
  readonly waiting?: (waits: boolean) => void;
}

/** The first and the maximum delay after a failure (ms); the maximum also applies while the resource is not served. */
const firstRetryMs = 800;
const lastRetryMs = 30_000;

/** Lists and watches a resource until the signal is aborted. Never rejects: errors are logged. */
export async function reflect(options: ReflectorOptions, to: ReflectorHandler): Promise<void> {
  const { signal, turn = (list) => list() } = options;
  const wait = (ms: number) => pauseOf(options, to, ms);
  let revision = 0;
  let failures = 0;
  let eventless = 0;
  while (!signal.aborted) {
    try {
      const place = await options.place();
      if (revision === 0) {
        await turn(async () => {
          revision = await list(options, place, to);
        });
      }
      for await (const event of await watch(options, place, revision)) {
        failures = 0;
        eventless = 0;
        revision = Math.max(revision, Number(event.object.metadata.resourceVersion));
        to.event(event);
      }
      // Delays the next watch when two in a row end without an event.
      if (eventless++ > 0) await wait(firstRetryMs);
    } catch (error) {
      if (signal.aborted) return;
      const code = error instanceof StatusError ? error.code : 0;
      await to.failed?.(code);
      if (code === 404 || code === 410) revision = 0;
      else options.log.error('failed to list or watch a resource', { resource: options.name, error });
      await wait(code === 404 ? lastRetryMs : Math.min(firstRetryMs * 2 ** failures, lastRetryMs));
      if (code !== 404) failures++;
    }
  }
}

async function list(
  { client, signal, selection, accept }: ReflectorOptions,
  place: Place,
  to: ReflectorHandler,
): Promise<number> {
  const options = { ...selection, ...(accept === undefined ? {} : { accept: accept.list }), signal };
  let revision = 0;
  to.listing?.();
  for await (const { items, metadata } of pagesOf<ApiObject>(client, place, options)) {
    await to.page(items);
    revision = Number(metadata.resourceVersion);
  }
  await to.listed(revision);
  return revision;
}

const watch = ({ client, signal, selection, accept }: ReflectorOptions, place: Place, revision: number) =>
  client.watch<ApiObject>(place, {
    ...selection,
    ...(accept === undefined ? {} : { accept: accept.watch }),
    resourceVersion: String(revision),
    allowWatchBookmarks: true,
    signal,
  });

/** Resolves after `ms`, or when the signal is aborted. */
function pauseOf({ clock, signal }: ReflectorOptions, { waiting }: ReflectorHandler, ms: number): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  waiting?.(true);
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      // Runs in the turn in which the clock advances, so that callers of `caughtUp` see that work follows.
      waiting?.(false);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener('abort', end);
  });
}
