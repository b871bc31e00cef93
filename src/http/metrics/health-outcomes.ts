import { healthMetrics } from '../../meta/index.ts';
import { metricHeader, ValueMetric } from './metric.ts';

/** Counts the results of health checks, for `/metrics/slis`. */
export class HealthOutcomes {
  readonly #last = new ValueMetric('gauge', {
    name: healthMetrics.last,
    stability: 'STABLE',
    help: 'How a single health check ended last: 1 when it passed.',
    labels: ['name', 'type'],
  });
  readonly #total = new ValueMetric('counter', {
    name: healthMetrics.total,
    stability: 'STABLE',
    help: 'Health checks, by how they ended.',
    labels: ['name', 'type', 'status'],
  });

  observe(type: string, name: string, passed: boolean): void {
    this.#last.series({ name, type }).value = passed ? 1 : 0;
    this.#total.series({ name, type, status: passed ? 'success' : 'error' }).value++;
  }

  /** In the text format of Prometheus. */
  text(): string {
    return [this.#last, this.#total].map((metric) => metricHeader(metric) + [...metric.lines()].join('')).join('');
  }
}
