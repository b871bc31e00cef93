import type { PluginInitializer } from '../admission/index.ts';
import type { Clock } from '../meta/index.ts';
import type { Log } from './dependencies.ts';

/** How often a failure is told again (ms). */
const intervalMs = 60_000;
/** How many different failures are told in an interval. */
const maxTold = 100;

/** Warns of failures of admission webhooks: of the same failure of a webhook once in a minute. */
export function webhookFailures(
  log: Pick<Log, 'warn'>,
  clock: Pick<Clock, 'monotonic'>,
): PluginInitializer['webhookFailed'] {
  const told = new Set<string>();
  let until = Number.NEGATIVE_INFINITY;
  return ({ configuration, webhook, why, ignored }) => {
    const now = clock.monotonic();
    if (now >= until) {
      until = now + intervalMs;
      told.clear();
    }
    const id = JSON.stringify([configuration, webhook, why]);
    if (told.size === maxTold || told.has(id)) return;
    told.add(id);
    const text = `an admission webhook has failed${ignored ? ', which is ignored' : ''}`;
    log.warn(text, { configuration, webhook, why });
  };
}
