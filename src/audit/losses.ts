import type { Clock } from '../meta/index.ts';
import type { AuditCounts } from './types.ts';

/** The log of the server, as far as backends use it. */
export interface AuditErrorLog {
  readonly error: (text: string, fields: { readonly [name: string]: unknown }) => void;
}

export interface LossOptions {
  readonly counts: AuditCounts;
  readonly log: AuditErrorLog;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Reports that events were lost. */
export type ReportLoss = (plugin: string, events: number, error: unknown) => void;

/** The least time between two log lines about the same plugin (ms). */
const quietMs = 10_000;

/** Counts lost events, and logs how many there were since the last line. */
export function lossReporter({ counts, log, clock }: LossOptions): ReportLoss {
  const unlogged = new Map<string, { events: number; since: number }>();
  return (plugin, events, error) => {
    counts.errors.set(plugin, (counts.errors.get(plugin) ?? 0) + events);
    const now = clock.monotonic();
    const known = unlogged.get(plugin) ?? { events: 0, since: now - quietMs };
    known.events += events;
    unlogged.set(plugin, known);
    if (now - known.since < quietMs) return;
    log.error('audit events were lost', { plugin, events: known.events, error });
    known.events = 0;
    known.since = now;
  };
}

/** The result of writing an event that exceeds the limit without its objects. */
export function tooLarge(lost: ReportLoss): Promise<boolean> {
  lost('truncate', 1, new Error('event is too large even after truncating'));
  return Promise.resolve(false);
}
