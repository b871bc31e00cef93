import type { PluginInitializer } from '../../admission/index.ts';
import type { Clock } from '../../meta/index.ts';
import type { Log } from '../dependencies.ts';

/** How often a failure is told again (ms). */
const intervalMs = 60_000;
/** How many different failures are told in an interval. */
const maxLogged = 100;

/** Warns of failures: of the same one once in a minute. */
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

/** Warns of failures of admission webhooks: of the same failure of a webhook once in a minute. */
export function webhookFailures(
  log: Pick<Log, 'warn'>,
  clock: Pick<Clock, 'monotonic'>,
): PluginInitializer['webhookFailed'] {
  const warn = throttleWarnings(log, clock);
  return ({ configuration, webhook, why, ignored }) =>
    warn(`an admission webhook has failed${ignored ? ', which is ignored' : ''}`, { configuration, webhook, why });
}
