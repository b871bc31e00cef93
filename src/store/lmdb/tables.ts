import type { ByteString } from '../../meta/index.ts';
import type { Change } from './log-format.ts';
import {
  type LeaseKey,
  leaseKeys,
  type Pointer,
  type Position,
  pointerValues,
  positionKeys,
  textKeys,
} from './records.ts';
import { Table } from './table.ts';
import type { Group } from './tail.ts';

/** The tables of a store. */
export interface Tables {
  readonly path: string;
  readonly records: Table<Buffer, Position>;
  readonly heads: Table<Pointer, ByteString>;
  readonly long: Table<Pointer, ByteString>;
  readonly leases: Table<Pointer, LeaseKey>;
  /** By the number that each has in the log. */
  readonly all: readonly Pick<Table<never, never>, 'open' | 'close' | 'readIn' | 'write' | 'stage' | 'unstage'>[];
  /** Whether records may have no seal: those of format 1 are still being rewritten. */
  readonly mayLackSeals: () => boolean;
}

/** Tables before they are opened. */
export function tablesOf(path: string, mayLackSeals: () => boolean): Tables {
  const text = { keyEncoder: textKeys, encoder: pointerValues };
  const records = new Table<Buffer, Position>(path, 'records', 0, { keyEncoder: positionKeys });
  const heads = new Table(path, 'heads', 1, text);
  const long = new Table(path, 'long', 2, text);
  const leases = new Table(path, 'leases', 3, { keyEncoder: leaseKeys, encoder: pointerValues });
  return { path, mayLackSeals, records, heads, long, leases, all: [records, heads, long, leases] };
}

/** Reads of the tables see the changes of these groups. */
export function stageGroups({ all }: Tables, groups: readonly Group[]): void {
  for (const { changes, sequence } of groups) for (const change of changes) all[change.table]?.stage(change, sequence);
}

/** Part of a transaction. */
export function writeChanges({ all }: Tables, changes: readonly Change[]): void {
  for (const change of changes) all[change.table]?.write(change);
}
