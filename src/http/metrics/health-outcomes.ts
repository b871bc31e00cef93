import { healthMetrics } from '../../meta/index.ts';
import { labelText } from './distribution.ts';

/** How one check ended at one endpoint. */
interface Outcome {
  readonly labels: string;
  success: number;
  error: number;
  passed: boolean;
}

/** Counts how health checks ended, for `/metrics/slis`. */
export class HealthOutcomes {
  readonly #outcomes = new Map<string, Outcome>();

  observe(type: string, name: string, passed: boolean): void {
    const key = `${type}/${name}`;
    let outcome = this.#outcomes.get(key);
    if (outcome === undefined) {
      outcome = { labels: labelText({ name, type }), success: 0, error: 0, passed };
      this.#outcomes.set(key, outcome);
    }
    outcome.passed = passed;
    outcome[passed ? 'success' : 'error'] += 1;
  }

  /** In the text format of Prometheus. */
  text(): string {
    const { last, total } = healthMetrics;
    const lasts = [
      `# HELP ${last} [STABLE] How a single health check ended last: 1 when it passed.`,
      `# TYPE ${last} gauge`,
    ];
    const totals = [`# HELP ${total} [STABLE] Health checks, by how they ended.`, `# TYPE ${total} counter`];
    for (const { labels, passed, success, error } of this.#outcomes.values()) {
      lasts.push(`${last}{${labels}} ${passed ? 1 : 0}`);
      if (error > 0) totals.push(`${total}{${labels},status="error"} ${error}`);
      if (success > 0) totals.push(`${total}{${labels},status="success"} ${success}`);
    }
    return `${[...lasts, ...totals].join('\n')}\n`;
  }
}
