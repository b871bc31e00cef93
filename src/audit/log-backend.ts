import type { ByteString, Clock, Names } from '../meta/index.ts';
import { BatchBuffer } from './batch-buffer.ts';
import { jsonLine, legacyLine } from './event.ts';
import { type AuditErrorLog, lossReporter, tooLarge } from './losses.ts';
import { awaited, type BatchSettings, inMode } from './mode.ts';
import { RotatingFile, type RotationOptions } from './rotating-file.ts';
import { encodeWithin } from './truncate.ts';
import type { AuditBackend, AuditCounts, AuditEvent } from './types.ts';

/** The limits of events and batches (bytes). */
export interface TruncateOptions {
  readonly maxEventSize: number;
  readonly maxBatchSize: number;
}

/** The log and the clock of backends. */
export interface BackendDependencies {
  readonly names: Names;
  readonly clock: Clock;
  readonly counts: AuditCounts;
  readonly log: AuditErrorLog;
}

/** Where the lines of an audit log go. */
export interface AuditLog {
  /** Rejects when lines cannot be written. */
  open(): Promise<void>;
  append(lines: readonly ByteString[]): Promise<void>;
  close(): Promise<void>;
}

export interface LogBackendOptions {
  readonly log: AuditLog;
  readonly format: 'json' | 'legacy';
  readonly batch: BatchSettings;
  readonly truncate: TruncateOptions | undefined;
}

/** The size of one write where batches are not limited (bytes). */
const writeBytes = 4 * 1024 * 1024;

/** The audit log in a file, or on standard output where the path is undefined. Appends wait for each other. */
export function createAuditLog(
  path: string | undefined,
  rotation: RotationOptions,
  { clock, log }: Pick<BackendDependencies, 'clock' | 'log'>,
): AuditLog {
  const failed = (error: unknown) => log.error('rotated audit logs cannot be compressed or removed', { error });
  const file = path === undefined ? standardOutput : new RotatingFile(path, rotation, { clock, failed });
  let last = Promise.resolve();
  return {
    open: () => file.open(),
    append(lines) {
      const appended = last.then(() => file.append(lines));
      last = appended.catch(() => undefined);
      return appended;
    },
    close: () => file.close(),
  };
}

/** Writes events as lines to a log, one write at a time. Rejects if the log cannot be opened. */
export async function openLogBackend(
  { log: file, format, batch, truncate }: LogBackendOptions,
  { names, clock, counts, log }: BackendDependencies,
): Promise<AuditBackend> {
  const lost = lossReporter({ counts, log, clock });
  const encode = format === 'json' ? (event: AuditEvent) => jsonLine(event, names) : legacyLine;
  // Opened again for the first event, so that a server that does not start holds no file.
  await file.open();
  await file.close();
  const buffer = new BatchBuffer(
    { ...inMode(batch), batchBytes: truncate?.maxBatchSize ?? writeBytes, parallel: 1 },
    { plugin: 'log', deliver: (lines) => file.append(lines), lost, clock },
  );
  return {
    mode: batch.mode,
    write(event) {
      const line = encodeWithin(truncate?.maxEventSize ?? Number.POSITIVE_INFINITY, event, names.domain, encode);
      return awaited(batch.mode, line === undefined ? tooLarge(lost) : buffer.add(line));
    },
    async close(graceMs) {
      // A write that does not end would hold the file.
      if (!(await buffer.close(graceMs))) return;
      await file.close().catch((error: unknown) => log.error('the audit log cannot be closed', { error }));
    },
  };
}

const standardOutput = {
  open: async () => {},
  append: (lines: readonly ByteString[]) =>
    new Promise<void>((resolve, reject) => {
      process.stdout.write(`${lines.join('\n')}\n`, 'latin1', (error) => (error == null ? resolve() : reject(error)));
    }),
  close: async () => {},
};
