import type { PluginInitializer } from '../admission/index.ts';
import type { Clock } from '../meta/index.ts';
import type { Log } from './dependencies.ts';
import { toldOnce } from './told-once.ts';

/** Warns of failures of admission webhooks: of the same failure of a webhook once in a minute. */
export function webhookFailures(
  log: Pick<Log, 'warn'>,
  clock: Pick<Clock, 'monotonic'>,
): PluginInitializer['webhookFailed'] {
  const isNew = toldOnce(clock);
  return ({ configuration, webhook, why, ignored }) => {
    if (!isNew(JSON.stringify([configuration, webhook, why]))) return;
    const text = `an admission webhook has failed${ignored ? ', which is ignored' : ''}`;
    log.warn(text, { configuration, webhook, why });
  };
}
