/** The live rows of a table: its state as signals. */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { Place } from '../../client/index.ts';
import { type LiveStatus, liveEvents } from '../state/live-events.ts';
import type { Session } from '../state/session.ts';
import { type Column, type Row, rowsOf, type ServerTable } from './rows.ts';

export interface LiveTable {
  readonly columns: ReadonlySignal<readonly Column[]>;
  readonly rows: ReadonlyMap<string, Row>;
  /** Changes whenever the rows have changed. */
  readonly version: ReadonlySignal<number>;
  readonly status: ReadonlySignal<LiveStatus | 'failed'>;
  /** Why the server refuses the table. */
  readonly error: ReadonlySignal<unknown>;
}

/** Up to this many rows are shown as soon as they change. More rows are sorted at most once in an interval (ms). */
const fewRows = 5_000;
const largeIntervalMs = 300;

/** Follows the table of a place until the signal is aborted. */
export function followTable(
  session: Session,
  place: Place,
  selection: { readonly labelSelector?: string; readonly fieldSelector?: string },
  stop: AbortSignal,
): LiveTable {
  const columns = signal<readonly Column[]>([]);
  const rows = new Map<string, Row>();
  const version = signal(0);
  const status = signal<LiveStatus | 'failed'>('loading');
  const error = signal<unknown>(undefined);
  /** The rows before the list that is being read; those that it does not have are gone. */
  let outdated: Set<string> | undefined;
  let scheduled = false;
  let shownAt = Number.NEGATIVE_INFINITY;
  const changed = () => {
    if (scheduled) return;
    scheduled = true;
    const show = () => {
      scheduled = false;
      shownAt = performance.now();
      version.value += 1;
    };
    if (rows.size <= fewRows) requestAnimationFrame(show);
    else setTimeout(show, Math.max(0, shownAt + largeIntervalMs - performance.now()));
  };
  const take = (table: ServerTable) => {
    if (table.columnDefinitions && table.columnDefinitions.length > 0) columns.value = table.columnDefinitions;
    for (const row of rowsOf(table)) {
      rows.set(row.key, row);
      outdated?.delete(row.key);
    }
    changed();
  };
  const following = liveEvents<ServerTable>({
    session,
    place,
    signal: stop,
    representation: 'table',
    selection,
    onReset: () => {
      outdated = new Set(rows.keys());
    },
    onPage: (page) => take(page as unknown as ServerTable),
    onEvent: (type, table) => {
      if (type !== 'DELETED') return take(table);
      for (const { key } of rowsOf(table)) rows.delete(key);
      changed();
    },
    onStatus: (next) => {
      if (next === 'live') {
        for (const key of outdated ?? []) rows.delete(key);
        outdated = undefined;
        changed();
      }
      status.value = next;
    },
  });
  following.catch((why: unknown) => {
    error.value = why;
    status.value = 'failed';
  });
  return { columns, rows, version, status, error };
}
