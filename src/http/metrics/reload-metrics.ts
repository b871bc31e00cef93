import { createHash } from 'node:crypto';
import type { Clock } from '../../meta/index.ts';
import type { MetricSet } from './metric.ts';

interface Reloads {
  readonly count: number;
  /** When the last one was (seconds since 1970). */
  readonly seconds: number;
}

/** The reloads of a configuration file by status. */
export type ReloadCounts = Map<string, Reloads>;

/** Counts the reloads of a configuration file. */
export const countReloads =
  (counts: ReloadCounts, clock: Pick<Clock, 'now'>) =>
  (status: 'success' | 'failure'): void => {
    counts.set(status, { count: (counts.get(status)?.count ?? 0) + 1, seconds: clock.now() / 1_000 });
  };

/** Declares the metrics of the reloads of a configuration. `identity`: of the server. */
export function declareReloadMetrics(
  set: MetricSet,
  configuration: 'authentication' | 'authorization',
  counts: ReloadCounts,
  identity: string,
): void {
  const hash = `sha256:${createHash('sha256').update(identity).digest('hex')}`;
  const declare = (name: string, type: 'counter' | 'gauge', help: string, read: (reloads: Reloads) => number) =>
    set.observable({
      type,
      name: `apiserver_${configuration}_config_controller_${name}`,
      // The gauge is the time of the last reload.
      across: type === 'counter' ? 'sum' : 'max',
      stability: 'ALPHA',
      help: `${help}, by outcome and hash of the identity of the server.`,
      labels: ['apiserver_id_hash', 'status'],
      *read() {
        for (const status of [...counts.keys()].sort()) {
          yield [{ apiserver_id_hash: hash, status }, read(counts.get(status) as Reloads)];
        }
      },
    });
  declare(
    'automatic_reload_last_timestamp_seconds',
    'gauge',
    `When the ${configuration} configuration was last reloaded`,
    ({ seconds }) => seconds,
  );
  declare('automatic_reloads_total', 'counter', `Reloads of the ${configuration} configuration`, ({ count }) => count);
}
