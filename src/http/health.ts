import { quote } from '../meta/index.ts';
import { pageNotFound, textAnswer } from './answers.ts';
import { HealthOutcomes } from './health-outcomes.ts';
import type { Query } from './request-info.ts';
import type { ApiResponse } from './types.ts';

/** A health check. */
export interface HealthCheck {
  /** As in `[+]name ok`. */
  readonly name: string;
  /** Throws or rejects when unhealthy; the error is logged. */
  readonly check: () => void | Promise<void>;
  /** The endpoints that include it. */
  readonly endpoints: readonly HealthEndpoint[];
}

type HealthEndpoint = 'healthz' | 'livez' | 'readyz';
const endpoints: readonly HealthEndpoint[] = ['healthz', 'livez', 'readyz'];

/** `/healthz`, `/livez`, `/readyz` and the individual checks below them. */
export interface Health {
  /** The served paths. */
  readonly paths: readonly string[];
  /** Undefined when the path is not below one of the three. */
  serve(path: string, query: Query): Promise<ApiResponse> | undefined;
  /** The results of the checks so far, in the Prometheus text format (`/metrics/slis`). */
  outcomes(): string;
}

/** Runs a check for an endpoint; counts the result and logs failures. */
type Passes = (endpoint: HealthEndpoint, check: HealthCheck) => Promise<boolean>;

export function createHealth(
  checks: readonly HealthCheck[],
  onFailure: (check: string, error: unknown) => void,
): Health {
  const outcomes = new HealthOutcomes();
  const passes: Passes = async (endpoint, check) => {
    let passed = true;
    try {
      await check.check();
    } catch (error) {
      onFailure(check.name, error);
      passed = false;
    }
    outcomes.observe(endpoint, check.name, passed);
    return passed;
  };
  const of = (endpoint: HealthEndpoint) => checks.filter((check) => check.endpoints.includes(endpoint));
  return {
    paths: endpoints.flatMap((endpoint) => [`/${endpoint}`, ...of(endpoint).map(({ name }) => `/${endpoint}/${name}`)]),
    serve(path, query) {
      const endpoint = endpoints.find((e) => path === `/${e}` || path.startsWith(`/${e}/`));
      if (endpoint === undefined) return undefined;
      const name = path.slice(endpoint.length + 2);
      if (path === `/${endpoint}`) return all(endpoint, of(endpoint), query, passes);
      const single = of(endpoint).find((check) => check.name === name);
      return single === undefined ? Promise.resolve(pageNotFound) : one(endpoint, single, passes);
    },
    outcomes: () => outcomes.text(),
  };
}

async function all(
  endpoint: HealthEndpoint,
  checks: readonly HealthCheck[],
  query: Query,
  passes: Passes,
): Promise<ApiResponse> {
  const excluded = new Set(query.getAll('exclude'));
  const lines: string[] = [];
  const failed: string[] = [];
  for (const check of checks) {
    if (excluded.delete(check.name)) lines.push(`[+]${check.name} excluded: ok`);
    else if (await passes(endpoint, check)) lines.push(`[+]${check.name} ok`);
    else {
      failed.push(check.name);
      lines.push(`[-]${check.name} failed: reason withheld`);
    }
  }
  if (excluded.size > 0) {
    const unknown = [...excluded].map(quote).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown}`);
  }
  const text = `${lines.join('\n')}\n${endpoint} check`;
  if (failed.length > 0) return textAnswer(500, `${text} failed\n`);
  return textAnswer(200, query.has('verbose') ? `${text} passed\n` : 'ok');
}

async function one(endpoint: HealthEndpoint, check: HealthCheck, passes: Passes): Promise<ApiResponse> {
  if (await passes(endpoint, check)) return textAnswer(200, 'ok');
  return textAnswer(500, `internal server error: ${check.name} failed: reason withheld\n`);
}
