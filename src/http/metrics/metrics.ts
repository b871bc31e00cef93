import { type AuditCounts, emptyAuditCounts } from '../../audit/index.ts';
import { emptyTokenCounts } from '../../auth/index.ts';
import { type EncryptionCounts, emptyEncryptionCounts } from '../../encryption/index.ts';
import type { FlowControl, FlowObserver } from '../../fairness/index.ts';
import { apiRelease, type ByteString, type Clock, featureList, featureMetric, type Turns } from '../../meta/index.ts';
import type { Registry } from '../../registry/index.ts';
import type { InFlight } from '../limits.ts';
import { type AccessCounts, type AccessMetrics, declareAccessMetrics } from './access-metrics.ts';
import { type AdmissionMetrics, declareAdmissionMetrics } from './admission-metrics.ts';
import { type AggregationMetrics, type AggregationState, declareAggregationMetrics } from './aggregation-metrics.ts';
import { createAuthorizerMetrics } from './authorization-metrics.ts';
import { declareCacheMetrics } from './cache-metrics.ts';
import { type ControllerMetrics, declareControllerMetrics } from './controller-metrics.ts';
import { declareEncryptionMetrics } from './encryption-metrics.ts';
import { declareFairnessMetrics } from './fairness-metrics.ts';
import { type Metric, MetricSet, type Scrape, type Stability } from './metric.ts';
import { type MetricLines, metricLines, metricsText } from './metrics-text.ts';
import { declareProcessMetrics } from './process-metrics.ts';
import { type BuildInfo, noUsage, type ProcessUsage } from './process-usage.ts';
import { type ConnectionCounts, declareRequestMetrics } from './request-metrics.ts';
import { type FindSeries, labelText, type Place, type RequestCounts } from './series.ts';
import { type CommitMetrics, createCommitMetrics, declareStoreMetrics, type ResourceOfKey } from './store-metrics.ts';
import { type MetricSettings, type VisibleMetrics, visibleMetrics } from './visibility.ts';

/** The counters and states that other parts of the server keep. */
export interface MetricSources extends AccessCounts {
  readonly audit: AuditCounts;
  readonly encryption: EncryptionCounts;
  readonly commits: CommitMetrics;
  readonly connections: () => ConnectionCounts;
  readonly resourceOf: ResourceOfKey;
  /** The size of the store on disk (bytes); undefined for a store in memory. */
  readonly storeSize: () => Promise<number | undefined>;
  /** Rejects when the store cannot be written. */
  readonly checkWritable: () => Promise<void>;
  /** The values of the other workers of the server. */
  readonly others: () => Promise<readonly MetricLines[]>;
  readonly readUsage: () => Promise<ProcessUsage>;
  /** Undefined: requests have no seats. */
  readonly flowControl: () => FlowControl | undefined;
  /** Undefined: the server serves all group versions itself. */
  readonly aggregation: () => AggregationState | undefined;
  /** Undefined: unknown. */
  readonly build: BuildInfo | undefined;
}

/** The sources of a server without an identity or a listener, over a store in memory. */
export const emptyCounts = (): MetricSources => ({
  identity: '',
  build: undefined,
  readUsage: async () => noUsage,
  certificates: () => new Map(),
  connections: () => ({ open: 0, refused: 0, flooded: 0, failedHandshakes: 0 }),
  commits: createCommitMetrics(),
  audit: emptyAuditCounts(),
  tokens: emptyTokenCounts(),
  authorizers: createAuthorizerMetrics(),
  authenticationReloads: new Map(),
  encryption: emptyEncryptionCounts(),
  resourceOf: () => undefined,
  flowControl: () => undefined,
  aggregation: () => undefined,
  storeSize: async () => undefined,
  checkWritable: async () => undefined,
  others: async () => [],
});

/**
 * The metrics of the server. An observation is a few additions; the text is written on a scrape. Label values come from
 * definitions, so that requests cannot create new series.
 */
export interface Metrics extends AccessMetrics, AdmissionMetrics, AggregationMetrics, ControllerMetrics {
  readonly inFlight: InFlight;
  /** Finds the series of a request, once for each request. */
  readonly series: FindSeries;
  readonly reset: RequestCounts['reset'];
  /** Counts what priority and fairness does with requests. */
  readonly flows: FlowObserver;
  readonly storeRequest: ReturnType<typeof declareStoreMetrics>;
  /** All metrics, in the order of a scrape. */
  readonly all: readonly Metric[];
  /** The current values of the server in the text format of Prometheus, in pieces that are made in turns. */
  text(turns: Turns): AsyncIterable<ByteString>;
  /** The current values of this process. */
  lines(turns: Turns): Promise<MetricLines>;
}

const defaultMetricSettings: MetricSettings = {
  release: apiRelease,
  showHidden: false,
  disabled: new Set(),
  allowedLabels: new Map(),
};

/** Creates the metrics of a server. `registry` is not called before the first scrape or request. */
export function createMetrics(
  registry: () => Registry,
  inFlight: InFlight,
  clock: Clock,
  sources = emptyCounts(),
  settings = defaultMetricSettings,
): Metrics {
  const set = new MetricSet();
  declareServerMetrics(set, sources.identity, registry);
  const isServed = ({ group, version, resource }: Place) => registry().find(group, version, resource) !== undefined;
  const { series, reset } = declareRequestMetrics(set, inFlight, sources.connections, isServed);
  const flows = declareFairnessMetrics(set, sources.flowControl);
  declareCacheMetrics(set, registry);
  const storeRequest = declareStoreMetrics(set, sources.resourceOf);
  set.include(sources.commits.set);
  const access = declareAccessMetrics(set, sources);
  const admission = declareAdmissionMetrics(set);
  const aggregation = declareAggregationMetrics(set, sources.aggregation);
  declareEncryptionMetrics(set, sources.encryption);
  const controllers = declareControllerMetrics(set);
  declareProcessMetrics(set, clock.now() / 1_000, sources.build);
  declareOwnMetrics(set, () => visible);
  const visible = visibleMetrics(set.all, settings);
  return {
    ...access,
    ...admission,
    ...aggregation,
    ...controllers,
    inFlight,
    series,
    reset,
    flows,
    storeRequest,
    all: visible.shown,
    async *text(turns) {
      const [scrape, others] = await Promise.all([readScrape(sources), sources.others()]);
      yield* metricsText(visible.shown, scrape, turns, others);
    },
    lines: async (turns) => metricLines(visible.shown, await readScrape(sources), turns),
  };
}

async function readScrape({ readUsage, storeSize, checkWritable }: MetricSources): Promise<Scrape> {
  const [usage, storeBytes, storeWritable] = await Promise.all([
    readUsage(),
    // The size is unknown while the store is unreachable.
    storeSize().catch(() => undefined),
    checkWritable().then(
      () => true,
      () => false,
    ),
  ]);
  return { usage, storeBytes, storeWritable };
}

function declareServerMetrics(set: MetricSet, identity: string, registry: () => Registry): void {
  set.observable({
    type: 'gauge',
    name: 'apiserver_identity_info',
    across: 'one',
    stability: 'ALPHA',
    help: 'The API server that these metrics are of, by the name of its identity lease: always 1.',
    labels: ['identity'],
    read: () => (identity === '' ? [] : [[{ identity }, 1]]),
  });
  set.observable({
    type: 'gauge',
    name: featureMetric,
    across: 'one',
    stability: 'BETA',
    help: 'Features by stage: 1 for those that are on, 0 for the others.',
    labels: ['name', 'stage'],
    *read() {
      const features: { readonly [name: string]: boolean } = registry().features;
      for (const [name, { stage }] of featureList) {
        yield [{ name, stage: stage === 'stable' ? '' : stage.toUpperCase() }, features[name] ? 1 : 0];
      }
    },
  });
}

/** Metrics about the metrics: the last ones, so that a scrape has seen the labels of all others. */
function declareOwnMetrics(set: MetricSet, visible: () => VisibleMetrics): void {
  set.observable({
    type: 'counter',
    name: 'registered_metrics_total',
    across: 'one',
    stability: 'BETA',
    help: 'The count of registered metrics broken by stability level and deprecation version.',
    labels: ['deprecated_version', 'stability_level'],
    read: () => {
      const counts = new Map<string, number>();
      for (const { declaration } of visible().shown) {
        const { stability, deprecated = '' } = declaration;
        if (stability === undefined) continue;
        const labels = labelText({ deprecated_version: deprecated, stability_level: stability });
        counts.set(labels, (counts.get(labels) ?? 0) + 1);
      }
      return counts;
    },
  });
  const declare = (name: string, stability: Stability, help: string, read: (metrics: VisibleMetrics) => number) =>
    set.observable({ type: 'counter', name, across: 'one', stability, help, read: () => [['', read(visible())]] });
  declare('hidden_metrics_total', 'BETA', 'The count of hidden metrics.', ({ hidden }) => hidden);
  declare('disabled_metrics_total', 'BETA', 'The count of disabled metrics.', ({ disabled }) => disabled);
  declare(
    'cardinality_enforcement_unexpected_categorizations_total',
    'ALPHA',
    'The count of unexpected categorizations during cardinality enforcement.',
    ({ unexpected }) => unexpected(),
  );
}
