import type { MetricLines, Metrics, RunningFlag } from '../../http/index.ts';

/** The other processes of a server. */
export interface OtherProcesses {
  readonly metricLines: () => Promise<readonly MetricLines[]>;
  readonly resetMetrics: () => Promise<void>;
  readonly setLogLevels: (text: string) => void;
}

/** Metrics whose reset reaches all processes of the server. */
export const wholeMetrics = (
  metrics: Metrics,
  others: () => OtherProcesses | undefined,
): Omit<Metrics, 'reset'> & { reset(): Promise<void> } => ({
  ...metrics,
  async reset() {
    metrics.reset();
    await others()?.resetMetrics();
  },
});

/** A flag that tells of its changes. */
export const observedFlag = (flag: RunningFlag, changed: (text: string) => void): RunningFlag => ({
  format: () => flag.format(),
  set(text) {
    const problem = flag.set(text);
    if (problem === undefined) changed(text);
    return problem;
  },
});
