import { setTimeout as pause } from 'node:timers/promises';
import { awaitWithTimeout } from './await-with-timeout.ts';
import type { ServerComponents } from './compose.ts';
import type { Dependencies } from './dependencies.ts';
import type { Listening } from './listener.ts';
import type { ServerSettings } from './settings/flags.ts';

/** Closes the components of a server that failed to start. */
export async function discard({
  registry,
  aggregation,
  closeAuthentication,
  authorization,
  auditor,
  tracer,
  store,
}: ServerComponents): Promise<void> {
  registry.close();
  await aggregation.close();
  await closeAuthentication();
  await authorization.close();
  await auditor?.close(0);
  await tracer?.close(0);
  await store.close();
}

/** Timeout of the export of the last spans (ms). */
const flushSpansMs = 2_000;
/**
 * Shuts a server or a worker down: keeps serving for the shutdown delay, waits for requests in flight, ends watches cleanly
 * and closes the store.
 */
export async function shutDown(
  {
    registry,
    store,
    inFlight,
    nodeProxy,
    aggregation,
    yaml,
    webhooks,
    closeAuthentication,
    authorization,
    auditor,
    tracer,
    usage,
  }: ServerComponents,
  opening: Promise<Pick<Listening, 'busy' | 'close'>> | undefined,
  settings: ServerSettings,
  injected: Pick<Dependencies, 'clock' | 'log'>,
  stops: readonly (() => Promise<unknown>)[],
): Promise<void> {
  const { clock } = injected;
  const stopped = Promise.all(stops.map((stop) => stop()));
  stopped.catch(() => {});
  // A failure to listen has been reported to the caller of `listen`.
  const listening = await opening?.catch(() => undefined);
  if (listening !== undefined) {
    await new Promise<void>((resolve) => {
      if (settings.shutdownDelayDuration === 0) resolve();
      else clock.after(settings.shutdownDelayDuration, resolve);
    });
  }
  const idle = listening?.close(settings.shutdownGracePeriod);
  // Watches and proxied connections are long-running: they end after all other requests.
  const until = clock.now() + settings.shutdownGracePeriod;
  const working = () => inFlight.limits.readOnly.used + inFlight.limits.mutating.used > 0 || listening?.busy() === true;
  while (working() && clock.now() < until) {
    await pause(5);
  }
  webhooks.close();
  await closeAuthentication();
  await authorization.close();
  await awaitWithTimeout(injected, 'work of the server on the store', stopped);
  registry.close();
  nodeProxy.close();
  await aggregation.close();
  usage.close();
  yaml.close();
  await idle;
  await auditor?.close(settings.shutdownGracePeriod);
  await tracer?.close(flushSpansMs);
  await awaitWithTimeout(injected, 'the store', store.close());
}
