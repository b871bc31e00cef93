import type { PluginInitializer } from '../../admission/index.ts';
import type { Clock } from '../../meta/index.ts';
import type { Log } from '../dependencies.ts';

/** Interval in which a failure is logged once (ms). */
const intervalMs = 60_000;
/** Maximum number of failures logged in an interval. */
const maxLogged = 100;

/** Logs the same failure at most once a minute. */
export function throttleWarnings(log: Pick<Log, 'warn'>, clock: Pick<Clock, 'monotonic'>): Log['warn'] {
  const logged = new Set<string>();
  let until = Number.NEGATIVE_INFINITY;
  return (text, fields) => {
    const now = clock.monotonic();
    if (now >= until) {
      until = now + intervalMs;
      logged.clear();
    }
    const id = JSON.stringify(fields);
    if (logged.size === maxLogged || logged.has(id)) return;
    logged.add(id);
    log.warn(text, fields);
  };
}

/** Logs failures of admission webhooks, the same failure of a webhook at most once a minute. */
export function webhookFailures(
  log: Pick<Log, 'warn'>,
  clock: Pick<Clock, 'monotonic'>,
): PluginInitializer['webhookFailed'] {
  const warn = throttleWarnings(log, clock);
  return ({ configuration, webhook, why, ignored }) =>
    warn(`an admission webhook has failed${ignored ? ', which is ignored' : ''}`, { configuration, webhook, why });
}
