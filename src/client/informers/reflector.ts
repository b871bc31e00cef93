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
  /** Of the resource, in the log. */
  readonly name: string;
  /** Where the objects are; asked again after each failure. @throws StatusError 404 when they are not served */
  readonly place: () => Promise<Place>;
  readonly selection?: Pick<ListOptions, 'labelSelector' | 'fieldSelector'>;
  /** The media types of lists and of watches; whole objects by default. */
  readonly accept?: { readonly list: string; readonly watch: string };
  /** Makes each list; the default makes it at once. */
  readonly turn?: (list: () => Promise<void>) => Promise<void>;
}

/** Told what a resource has. */
export interface Reflected {
  /** A list begins: the first, or another one because changes were missed. */
  readonly listing?: () => void;
  /** A page of the list. */
  readonly page: (objects: ApiObject[]) => void | Promise<void>;
  /** The list is complete. Changes are told when the result has resolved. */
  readonly listed: (revision: number) => void | Promise<void>;
  /** A change after the list, or a bookmark. */
  readonly event: (event: ClientWatchEvent<ApiObject>) => void;
  /** A list or watch failed and will be tried again; 404: the resource is not served. */
  readonly failed?: (code: number) => void | Promise<void>;
  /** Until the clock has moved on, nothing is asked of the server; then false. */
  readonly waiting?: (waits: boolean) => void;
}

/** Delays before the list or watch that follows a failure (ms), and where the resource is not served. */
const firstRetryMs = 800;
const lastRetryMs = 30_000;

/** Lists and watches a resource until the signal is aborted. Never rejects: errors are logged. */
export async function reflect(options: ReflectorOptions, to: Reflected): Promise<void> {
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
      // Watches that end with nothing seen are not begun again and again.
      if (eventless++ > 0) await wait(firstRetryMs);
    } catch (error) {
      if (signal.aborted) return;
      const code = error instanceof StatusError ? error.code : 0;
      await to.failed?.(code);
      if (code === 404 || code === 410) revision = 0;
      else options.log.error('a resource cannot be listed or watched', { resource: options.name, error });
      await wait(code === 404 ? lastRetryMs : Math.min(firstRetryMs * 2 ** failures, lastRetryMs));
      if (code !== 404) failures++;
    }
  }
}

async function list(
  { client, signal, selection, accept }: ReflectorOptions,
  place: Place,
  to: Reflected,
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

/** Resolves after the time (ms), or when the signal is aborted. */
function pauseOf({ clock, signal }: ReflectorOptions, { waiting }: Reflected, ms: number): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  waiting?.(true);
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      // In the turn in which the clock moves on, so that who waits for what follows from that does not miss it.
      waiting?.(false);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener('abort', end);
  });
}
