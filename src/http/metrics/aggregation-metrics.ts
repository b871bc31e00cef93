/** The metrics of extension API servers. Their names, labels and texts are those of the reference server. */
import type { Outages, Registrations } from '../../aggregation/index.ts';
import type { MetricSet } from './metric.ts';

/** The APIServices of a server, and how often they have become unavailable. */
export interface AggregationState {
  readonly registrations: Pick<Registrations, 'all'>;
  readonly outages: Outages;
}

export interface AggregationMetrics {
  /** Counts a document of aggregated discovery that is made. */
  readonly discoveryAggregated: () => void;
}

/** Declares the metrics. Those of APIServices are read from the state of the server, once there is one. */
export function declareAggregationMetrics(
  set: MetricSet,
  state: () => AggregationState | undefined,
): AggregationMetrics {
  const aggregated = set
    .counter({
      name: 'aggregator_discovery_aggregation_count_total',
      stability: 'ALPHA',
      help: 'Counter of number of times discovery was aggregated',
    })
    .series();
  set.observable({
    type: 'gauge',
    name: 'aggregator_unavailable_apiservice',
    across: 'max',
    stability: 'ALPHA',
    help: 'Gauge of APIServices which are marked as unavailable broken down by APIService name.',
    labels: ['name'],
    *read() {
      for (const [name, { condition }] of state()?.registrations.all ?? []) {
        if (condition !== undefined) yield [{ name }, condition.status === 'True' ? 0 : 1];
      }
    },
  });
  set.observable({
    type: 'counter',
    name: 'aggregator_unavailable_apiservice_total',
    stability: 'ALPHA',
    help: 'Counter of APIServices which are marked as unavailable broken down by APIService name and reason.',
    labels: ['name', 'reason'],
    *read() {
      for (const [name, reasons] of state()?.outages ?? []) {
        for (const [reason, count] of reasons) yield [{ name, reason }, count];
      }
    },
  });
  return {
    discoveryAggregated: () => {
      aggregated.value++;
    },
  };
}
