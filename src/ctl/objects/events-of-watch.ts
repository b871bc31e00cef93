import { watchFailure, watchLines } from '../../client/index.ts';
import { readOwnJson } from '../../codec/index.ts';
import { isJsonObject, type JsonObject } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { isTimeout } from '../errors.ts';
import type { Io } from '../io.ts';
import { type Query, urlOf } from './selection.ts';

interface WatchEvent {
  readonly type: string;
  readonly object: JsonObject;
}

interface FollowOptions {
  readonly path: string;
  readonly query: Query;
  readonly accept?: string;
  /** Ends the watch when it is aborted. */
  readonly until?: AbortSignal;
  /** Receives each event. Returns true to end the watch. */
  readonly event: (event: WatchEvent) => unknown;
}

/**
 * Receives the events of a watch, and watches again from the latest version when the server ends it. Resolves when the receiver
 * returns true, and when `until` is aborted; rejects after Ctrl-C. @throws StatusError
 */
export async function followEvents(io: Io, cluster: Cluster, options: FollowOptions): Promise<void> {
  const { until } = options;
  let version = options.query['resourceVersion'];
  for (;;) {
    const query = { ...options.query, watch: true, allowWatchBookmarks: true, resourceVersion: version };
    const stop = new AbortController();
    try {
      const response = await cluster.client.request({
        method: 'GET',
        url: urlOf(options.path, query),
        headers: { accept: options.accept ?? 'application/json' },
        signal: AbortSignal.any([stop.signal, io.signal, ...(until === undefined ? [] : [until])]),
      });
      for await (const line of watchLines(response)) {
        const { type, object } = readOwnJson(line) as { type: string; object: JsonObject };
        if (type === 'ERROR') throw watchFailure(object);
        version = eventVersion(object) ?? version;
        if (type !== 'BOOKMARK' && options.event({ type, object }) === true) return;
      }
    } catch (error) {
      if (until?.aborted === true) return;
      // A watch that is longer than --request-timeout has ended, not failed.
      if (io.signal.aborted || !isTimeout(error)) throw error;
      return;
    } finally {
      stop.abort();
    }
  }
}

/** The version of an object, or of the object that the row of a table shows. */
export function eventVersion({ metadata, rows }: JsonObject): string | undefined {
  const version = isJsonObject(metadata) ? metadata['resourceVersion'] : undefined;
  if (typeof version === 'string' && version !== '') return version;
  const row = Array.isArray(rows) ? rows[0] : undefined;
  const object = isJsonObject(row) ? row['object'] : undefined;
  return isJsonObject(object) ? eventVersion(object) : undefined;
}
