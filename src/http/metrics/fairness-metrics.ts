/** The metrics of API priority and fairness. Their names, labels, buckets and texts are those of the reference server. */
import type { FlowControl, FlowObserver, LevelSamples, PriorityLevel } from '../../fairness/index.ts';
import type { Histogram, MetricSet } from './metric.ts';
import { seriesNames } from './series-names.ts';

const flowLabels = ['flow_schema', 'priority_level'];
const waitBuckets = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];

/** Declares the metrics; their gauges are read from the flow control of the server, once there is one. */
export function declareFairnessMetrics(set: MetricSet, flowControl: () => FlowControl | undefined): FlowObserver {
  declareLevelGauges(set, () => flowControl()?.levels ?? []);
  set.observable({
    type: 'gauge',
    name: 'apiserver_flowcontrol_seat_fair_frac',
    across: 'max',
    stability: 'ALPHA',
    help: "Fair fraction of server's concurrency to allocate to each priority level that can use it",
    read: () => [['', flowControl()?.fairFraction ?? 0]],
  });
  const flow = declareFlowMetrics(set);
  const level = declareLevelMetrics(set);
  const kinds = set.histogram({
    name: 'apiserver_flowcontrol_read_vs_write_current_requests',
    help: `${atEveryNanosecond} the number of requests (as a fraction of the relevant limit) waiting or in regular stage of execution`,
    labels: ['phase', 'request_kind'],
    buckets: [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
  });
  return { flow, level, kind: (request_kind, phase) => kinds.series({ phase, request_kind }) };
}

/** The reference server names no stability for metrics with this help. */
const atEveryNanosecond = 'Observations, at the end of every nanosecond, of';

const gauges: readonly (readonly [name: string, stability: 'ALPHA' | 'BETA', help: string, GaugeOf])[] = [
  [
    'nominal_limit_seats',
    'BETA',
    'Nominal number of execution seats configured for each priority level',
    ({ limits }) => limits.nominal,
  ],
  [
    'lower_limit_seats',
    'ALPHA',
    'Configured lower bound on number of execution seats available to each priority level',
    ({ limits }) => limits.lower,
  ],
  [
    'upper_limit_seats',
    'ALPHA',
    'Configured upper bound on number of execution seats available to each priority level',
    ({ limits }) => limits.upper,
  ],
  [
    'current_limit_seats',
    'ALPHA',
    'current derived number of execution seats available to each priority level',
    ({ queueSet }) => queueSet.state.limit,
  ],
  [
    'demand_seats_high_watermark',
    'ALPHA',
    'High watermark, over last adjustment period, of demand_seats',
    ({ usage }) => usage.demand.highest,
  ],
  [
    'demand_seats_average',
    'ALPHA',
    'Time-weighted average, over last adjustment period, of demand_seats',
    ({ usage }) => usage.demand.average,
  ],
  [
    'demand_seats_stdev',
    'ALPHA',
    'Time-weighted standard deviation, over last adjustment period, of demand_seats',
    ({ usage }) => usage.demand.deviation,
  ],
  ['demand_seats_smoothed', 'ALPHA', 'Smoothed seat demands', ({ usage }) => usage.demand.smoothed],
  ['target_seats', 'ALPHA', 'Seat allocation targets', ({ target }) => target],
  ['current_r', 'ALPHA', 'R(time of last change)', ({ queueSet }) => queueSet.state.currentR],
  ['dispatch_r', 'ALPHA', 'R(time of last dispatch)', ({ queueSet }) => queueSet.state.dispatchR],
  ['latest_s', 'ALPHA', 'S(most recently dispatched request)', ({ queueSet }) => queueSet.state.latestS],
];
type GaugeOf = (level: PriorityLevel) => number;

function declareLevelGauges(set: MetricSet, levels: () => readonly PriorityLevel[]): void {
  for (const [name, stability, help, of] of gauges) {
    set.observable({
      type: 'gauge',
      name: `apiserver_flowcontrol_${name}`,
      stability,
      help,
      labels: ['priority_level'],
      read: () => levels().map((level) => [{ priority_level: level.name }, of(level)]),
    });
  }
  const bounds = (name: string, help: string, discounted: boolean) =>
    set.observable({
      type: 'gauge',
      name: `apiserver_flowcontrol_${name}`,
      stability: 'ALPHA',
      help,
      labels: ['priority_level', 'bound'],
      *read() {
        for (const { name: level, queueSet } of levels()) {
          const { min, max } = queueSet.nextStarts(discounted);
          yield [{ priority_level: level, bound: 'min' }, min];
          yield [{ priority_level: level, bound: 'max' }, max];
        }
      },
    });
  bounds('next_s_bounds', 'min and max, over queues, of S(oldest waiting request in queue)', false);
  bounds(
    'next_discounted_s_bounds',
    'min and max, over queues, of S(oldest waiting request in queue) - estimated work in progress',
    true,
  );
}

function declareFlowMetrics(set: MetricSet): FlowObserver['flow'] {
  const counts = declareFlowCounts(set);
  const histograms = declareFlowHistograms(set);
  const limitName = seriesNames();
  return (schema, level) => {
    const isOther = limitName(`${schema} ${level}`) === 'other';
    const labels = { flow_schema: isOther ? 'other' : schema, priority_level: isOther ? 'other' : level };
    return { ...counts(labels), ...histograms(labels) };
  };
}

interface FlowLabels {
  readonly flow_schema: string;
  readonly priority_level: string;
}

const system = 'in the API Priority and Fairness subsystem';

function declareFlowCounts(set: MetricSet) {
  const gauge = (name: string, stability: 'ALPHA' | 'BETA', help: string) =>
    set.gauge({ name: `apiserver_flowcontrol_${name}`, stability, help, labels: flowLabels });
  const executing = 'in initial (for a WATCH) or any (for a non-WATCH) execution stage';
  const occupied = 'occupied by the currently executing (initial stage for a WATCH, any stage otherwise) requests';
  const executingRequests = gauge('current_executing_requests', 'BETA', `Number of requests ${executing} ${system}`);
  const executingSeats = gauge(
    'current_executing_seats',
    'BETA',
    `Concurrency (number of seats) ${occupied} ${system}`,
  );
  const pending = 'currently pending in queues of the API Priority and Fairness subsystem';
  const waitingRequests = gauge('current_inqueue_requests', 'BETA', `Number of requests ${pending}`);
  const waitingSeats = gauge('current_inqueue_seats', 'ALPHA', `Number of seats ${pending}`);
  const dispatched = set.counter({
    name: 'apiserver_flowcontrol_dispatched_requests_total',
    stability: 'BETA',
    help: 'Number of requests executed by API Priority and Fairness subsystem',
    labels: flowLabels,
  });
  const rejected = set.counter({
    name: 'apiserver_flowcontrol_rejected_requests_total',
    stability: 'BETA',
    help: 'Number of requests rejected by API Priority and Fairness subsystem',
    labels: [...flowLabels, 'reason'],
  });
  return (labels: FlowLabels) => ({
    executingRequests: executingRequests.series({ ...labels }),
    executingSeats: executingSeats.series({ ...labels }),
    waitingRequests: waitingRequests.series({ ...labels }),
    waitingSeats: waitingSeats.series({ ...labels }),
    dispatched: dispatched.series({ ...labels }),
    rejected: (reason: string) => rejected.series({ ...labels, reason }),
  });
}

function declareFlowHistograms(set: MetricSet) {
  const histogram = (
    name: string,
    stability: 'ALPHA' | 'BETA',
    help: string,
    buckets: readonly number[],
    more: readonly string[] = [],
  ) =>
    set.histogram({
      name: `apiserver_flowcontrol_${name}`,
      stability,
      help,
      labels: [...flowLabels, ...more],
      buckets,
    });
  const wait = histogram(
    'request_wait_duration_seconds',
    'BETA',
    'Length of time a request spent waiting in its queue',
    waitBuckets,
    ['execute'],
  );
  const execution = histogram(
    'request_execution_seconds',
    'ALPHA',
    `Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution ${system}`,
    waitBuckets,
    ['type'],
  );
  const queueLength = histogram(
    'request_queue_length_after_enqueue',
    'ALPHA',
    'Length of queue in the API Priority and Fairness subsystem, as seen by each request after it is enqueued',
    [0, 10, 25, 50, 100, 250, 500, 1000],
  );
  const seats = histogram(
    'work_estimated_seats',
    'ALPHA',
    'Number of estimated seats (maximum of initial and final seats) associated with requests in API Priority and Fairness',
    [1, 2, 4, 8, 16, 32, 64, 100],
  );
  const watches = histogram(
    'watch_count_samples',
    'ALPHA',
    'count of watchers for mutating requests in API Priority and Fairness',
    [0, 1, 10, 100, 1000, 10000],
  );
  return (labels: FlowLabels) => ({
    waited: wait.series({ execute: 'true', ...labels }),
    waitedInVain: wait.series({ execute: 'false', ...labels }),
    executed: execution.series({ ...labels, type: 'regular' }),
    watchExecuted: execution.series({ ...labels, type: 'watch' }),
    queueLength: queueLength.series({ ...labels }),
    seats: seats.series({ ...labels }),
    watches: watches.series({ ...labels }),
  });
}

function declareLevelMetrics(set: MetricSet): FlowObserver['level'] {
  const histogram = (name: string, help: string, buckets: readonly number[], labels: readonly string[]): Histogram =>
    set.histogram({
      name: `apiserver_flowcontrol_${name}`,
      help,
      labels: ['priority_level', ...labels],
      buckets,
    });
  const seats = histogram(
    'priority_level_seat_utilization',
    `${atEveryNanosecond} utilization of seats for any stage of execution (but only initial stage for WATCHes)`,
    [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
    ['phase'],
  );
  const requests = histogram(
    'priority_level_request_utilization',
    `${atEveryNanosecond} number of requests (as a fraction of the relevant limit) waiting or in any stage of execution (but only initial stage for WATCHes)`,
    [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1],
    ['phase'],
  );
  const demand = histogram(
    'demand_seats',
    `${atEveryNanosecond} (the number of seats each priority level could use) / (nominal number of seats for that level)`,
    [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6],
    [],
  );
  const limitName = seriesNames();
  return (level): LevelSamples => {
    const priority_level = limitName(level);
    return {
      seatUtilization: seats.series({ priority_level, phase: 'executing' }),
      requestsExecuting: requests.series({ phase: 'executing', priority_level }),
      requestsWaiting: requests.series({ phase: 'waiting', priority_level }),
      seatDemand: demand.series({ priority_level }),
    };
  };
}
