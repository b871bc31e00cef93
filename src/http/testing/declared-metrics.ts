import { VirtualClock } from '../../meta/index.ts';
import { createInFlight } from '../limits.ts';
import type { Declaration, MetricType } from '../metrics/metric.ts';
import { createMetrics } from '../metrics/metrics.ts';

export interface DeclaredMetric extends Declaration {
  readonly labels: readonly string[];
  readonly type: MetricType;
}

const limits = {
  readOnly: 1,
  mutating: 1,
  longRunning: 1,
  proxied: 1,
  receiving: 1,
  responses: 1,
  unread: 1,
  selectors: 1,
  compressed: 1,
};

const metrics = createMetrics(
  () => {
    throw new Error('metrics are declared without the registry');
  },
  createInFlight(limits),
  new VirtualClock(),
);

/** The declarations of all metrics of a server, in the order of a scrape. */
export const declaredMetrics: readonly DeclaredMetric[] = metrics.all.map(({ declaration, type }) => ({
  ...declaration,
  labels: declaration.labels ?? [],
  type,
}));
