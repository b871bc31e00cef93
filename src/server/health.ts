import { createHealth, type Health, type HealthCheck } from '../http/index.ts';
import type { Clock, Names } from '../meta/index.ts';
import type { Registry } from '../registry/index.ts';
import type { Store } from '../store/index.ts';
import { checkStore } from './component-status.ts';
import type { Log } from './dependencies.ts';

interface HealthOptions {
  readonly names: Names;
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  /** The checks of KMS plugins and of the post-start hooks. */
  readonly others: readonly HealthCheck[];
  readonly log: Pick<Log, 'error'>;
  readonly isClosing: () => boolean;
}

/** How long the check of the store waits for an answer (ms). */
const storeTimeoutMs = 2_000;

/** The health checks of a server. Failures are logged. */
export function serverHealth({ names, store, registry, clock, others, log, isClosing }: HealthOptions): Health {
  const answers = () => within(clock, storeTimeoutMs, checkStore(store));
  const everywhere = ['healthz', 'livez', 'readyz'] as const;
  const checks: readonly HealthCheck[] = [
    { name: 'ping', check: () => {}, endpoints: everywhere },
    { name: 'log', check: () => {}, endpoints: everywhere },
    { name: names.storeCheck, check: answers, endpoints: everywhere },
    { name: `${names.storeCheck}-readiness`, check: answers, endpoints: ['readyz'] },
    { name: 'informer-sync', check: () => checkCaches(registry), endpoints: ['readyz'] },
    ...others,
    { name: 'shutdown', check: () => checkOpen(isClosing()), endpoints: ['readyz'] },
  ];
  return createHealth(checks, (check, error) => log.error('health check failed', { check, error }));
}

/** NamespaceLifecycle reads the namespace of every written object from the cache. Damaged data is not served. */
function checkCaches(registry: Registry): void {
  const damage = registry.damages[0];
  if (damage !== undefined) throw damage;
  const namespaces = registry.find('', 'v1', 'namespaces');
  if (namespaces === undefined || namespaces.cache.revision > 0) return;
  namespaces.cache.ready().catch(() => {});
  throw new Error('the namespaces are not loaded yet');
}

function checkOpen(closing: boolean): void {
  if (closing) throw new Error('the server is shutting down');
}

/** Rejects also when `work` takes longer. */
function within(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new Error(`no answer within ${ms} ms`)));
    work.then(resolve, reject).finally(cancel);
  });
}
