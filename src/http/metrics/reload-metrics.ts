/** The metrics of configuration files that are read again when they change. */
import { createHash } from 'node:crypto';
import { labelText } from './distribution.ts';
import { line, type Metric } from './metric.ts';
import type { Counted } from './metrics.ts';
import type { ReloadCounts } from './reload-counts.ts';

/** The metrics of the reloads of a configuration. */
export function reloadMetrics(
  what: 'authentication' | 'authorization',
  countsOf: (counted: Counted) => ReloadCounts,
): readonly Metric[] {
  const lines = (counted: Counted, name: string, read: (reload: { count: number; seconds: number }) => number) => {
    const hash = `sha256:${createHash('sha256').update(counted.identity).digest('hex')}`;
    return [...countsOf(counted)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([status, reload]) => line(name, labelText({ apiserver_id_hash: hash, status }), read(reload)));
  };
  const by = 'by outcome and hash of the identity of the server';
  const shared = { stability: 'ALPHA', labels: ['apiserver_id_hash', 'status'] } as const;
  return [
    {
      ...shared,
      name: `apiserver_${what}_config_controller_automatic_reload_last_timestamp_seconds`,
      help: `When the ${what} configuration was last reloaded, ${by}.`,
      type: 'gauge',
      lines: (counted, name) => lines(counted, name, ({ seconds }) => seconds),
    },
    {
      ...shared,
      name: `apiserver_${what}_config_controller_automatic_reloads_total`,
      help: `Reloads of the ${what} configuration, ${by}.`,
      type: 'counter',
      lines: (counted, name) => lines(counted, name, ({ count }) => count),
    },
  ];
}
