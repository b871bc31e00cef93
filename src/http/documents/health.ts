import { quote, StatusError } from '../../meta/index.ts';
import { pageNotFound, textAnswer } from '../answers.ts';
import { HealthOutcomes } from '../metrics/health-outcomes.ts';
import type { Query } from '../request-info.ts';
import type { ApiResponse } from '../types.ts';

/** A health check. */
export interface HealthCheck {
  /** As in `[+]name ok`. */
  readonly name: string;
  /** Throws or rejects when unhealthy; the error is logged. Of a StatusError the message is told, of others nothing. */
  readonly check: () => void | Promise<void>;
  /** The endpoints that include it. */
  readonly endpoints: readonly HealthEndpoint[];
  /** It counts where `include` names it, and at its own path; `verbose` tells it without. */
  readonly optional?: boolean;
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
  outcomes(): string | Promise<string>;
}

/** Runs a check for an endpoint; counts the result and logs failures. The result is what is told of the failure. */
type Run = (endpoint: HealthEndpoint, check: HealthCheck) => Promise<string | undefined>;

export function createHealth(
  checks: readonly HealthCheck[],
  onFailure: (check: string, error: unknown) => void,
): Health {
  const outcomes = new HealthOutcomes();
  const run: Run = async (endpoint, check) => {
    let failure: string | undefined;
    try {
      await check.check();
    } catch (error) {
      onFailure(check.name, error);
      failure = error instanceof StatusError ? error.message : 'reason withheld';
    }
    outcomes.observe(endpoint, check.name, failure === undefined);
    return failure;
  };
  const of = (endpoint: HealthEndpoint) => checks.filter((check) => check.endpoints.includes(endpoint));
  return {
    paths: endpoints.flatMap((endpoint) => [`/${endpoint}`, ...of(endpoint).map(({ name }) => `/${endpoint}/${name}`)]),
    serve(path, query) {
      const endpoint = endpoints.find((e) => path === `/${e}` || path.startsWith(`/${e}/`));
      if (endpoint === undefined) return undefined;
      const name = path.slice(endpoint.length + 2);
      if (path === `/${endpoint}`) return all(endpoint, of(endpoint), query, run);
      const single = of(endpoint).find((check) => check.name === name);
      return single === undefined ? Promise.resolve(pageNotFound) : one(endpoint, single, run);
    },
    outcomes: () => outcomes.text(),
  };
}

async function all(
  endpoint: HealthEndpoint,
  checks: readonly HealthCheck[],
  query: Query,
  run: Run,
): Promise<ApiResponse> {
  const excluded = new Set(query.getAll('exclude'));
  const included = new Set(query.getAll('include'));
  const verbose = query.has('verbose');
  const lines: string[] = [];
  const failed: string[] = [];
  for (const check of checks) {
    const { name } = check;
    const counts = check.optional !== true || included.delete(name);
    if (excluded.delete(name) || (!counts && !verbose)) {
      lines.push(`[+]${name} excluded: ok`);
      continue;
    }
    const failure = await run(endpoint, check);
    if (failure !== undefined && counts) failed.push(name);
    const how = counts ? 'failed' : 'failed, does not count';
    lines.push(failure === undefined ? `[+]${name} ok` : `[-]${name} ${how}: ${failure}`);
  }
  if (excluded.size > 0) {
    const unknown = [...excluded].map(quote).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown}`);
  }
  const text = `${lines.join('\n')}\n${endpoint} check`;
  if (failed.length > 0) return textAnswer(500, `${text} failed\n`);
  return textAnswer(200, verbose ? `${text} passed\n` : 'ok');
}

async function one(endpoint: HealthEndpoint, check: HealthCheck, run: Run): Promise<ApiResponse> {
  const failure = await run(endpoint, check);
  if (failure === undefined) return textAnswer(200, 'ok');
  return textAnswer(500, `internal server error: ${check.name} failed: ${failure}\n`);
}
