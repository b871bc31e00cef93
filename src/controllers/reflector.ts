import type { Client, ClientWatchEvent, ListOptions, Place } from '../client/index.ts';
import { type ApiObject, type Clock, StatusError } from '../meta/index.ts';
import type { Log } from './log.ts';

/** What of a resource is followed. */
export type Selection = Pick<ListOptions, 'labelSelector' | 'fieldSelector'>;

export interface ReflectorOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly place: Place;
  readonly selection?: Selection;
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
  readonly page: (objects: ApiObject[]) => void;
  /** The list is complete. */
  readonly listed: (revision: number) => void;
  /** A change after the list, or a bookmark. */
  readonly event: (event: ClientWatchEvent<ApiObject>) => void;
  /** A list or watch failed and will be tried again; 404: the resource is not served. */
  readonly failed?: (code: number) => void;
}

/** Objects in each page of a list. */
const pageSize = 500;
/** Delays before the list or watch that follows a failure (ms), and where the resource is not served. */
const firstRetryMs = 800;
const lastRetryMs = 30_000;

/** Lists and watches a resource until the signal is aborted. Never rejects: errors are logged. */
export async function reflect(options: ReflectorOptions, to: Reflected): Promise<void> {
  const { signal, log, place, turn = (list) => list() } = options;
  let revision = 0;
  let failures = 0;
  let eventless = 0;
  while (!signal.aborted) {
    try {
      if (revision === 0) {
        await turn(async () => {
          revision = await list(options, to);
        });
      }
      for await (const event of await watch(options, revision)) {
        failures = 0;
        eventless = 0;
        revision = Math.max(revision, Number(event.object.metadata.resourceVersion));
        to.event(event);
      }
      // Watches that end with nothing seen are not begun again and again.
      if (eventless++ > 0) await pause(options, firstRetryMs);
    } catch (error) {
      if (signal.aborted) return;
      const code = error instanceof StatusError ? error.code : 0;
      to.failed?.(code);
      if (code === 404 || code === 410) revision = 0;
      else log.error('a resource cannot be listed or watched', { resource: place.resource, error });
      await pause(options, code === 404 ? lastRetryMs : Math.min(firstRetryMs * 2 ** failures, lastRetryMs));
      if (code !== 404) failures++;
    }
  }
}

async function list({ client, signal, place, selection, accept }: ReflectorOptions, to: Reflected): Promise<number> {
  let options: ListOptions = {
    ...selection,
    ...(accept === undefined ? {} : { accept: accept.list }),
    limit: pageSize,
    signal,
  };
  to.listing?.();
  for (;;) {
    const { items, metadata } = await client.list<ApiObject>(place, options);
    to.page(items);
    if (metadata.continue === undefined) {
      const revision = Number(metadata.resourceVersion);
      to.listed(revision);
      return revision;
    }
    options = { ...options, continue: metadata.continue };
  }
}

const watch = ({ client, signal, place, selection, accept }: ReflectorOptions, revision: number) =>
  client.watch<ApiObject>(place, {
    ...selection,
    ...(accept === undefined ? {} : { accept: accept.watch }),
    resourceVersion: String(revision),
    allowWatchBookmarks: true,
    signal,
  });

function pause({ clock, signal }: ReflectorOptions, ms: number): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener('abort', end);
  });
}
