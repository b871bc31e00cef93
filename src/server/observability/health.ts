import { createHealth, type Health, type HealthCheck } from '../../http/index.ts';
import type { Names } from '../../meta/index.ts';
import type { Registry } from '../../registry/index.ts';
import type { Log } from '../dependencies.ts';
import type { StoreChecks } from '../storage/store-checks.ts';

interface HealthOptions {
  readonly names: Names;
  readonly store: StoreChecks;
  readonly registry: Registry;
  /** The checks of KMS plugins and of the post-start hooks. */
  readonly others: readonly HealthCheck[];
  readonly log: Pick<Log, 'error'>;
  readonly isClosing: () => boolean;
}

/** The health checks of a server. Failures are logged. */
export function serverHealth({ names, store, registry, others, log, isClosing }: HealthOptions): Health {
  const everywhere = ['healthz', 'livez', 'readyz'] as const;
  const checks: readonly HealthCheck[] = [
    { name: 'ping', check: () => {}, endpoints: everywhere },
    { name: 'log', check: () => {}, endpoints: everywhere },
    { name: names.storeCheck, check: store.readable, endpoints: everywhere },
    { name: `${names.storeCheck}-readiness`, check: store.readable, endpoints: ['readyz'] },
    { name: 'informer-sync', check: () => checkCaches(registry), endpoints: ['readyz'] },
    ...others,
    { name: 'store-writable', check: store.writable, endpoints: ['readyz'], optional: true },
    { name: 'shutdown', check: () => checkOpen(isClosing()), endpoints: ['readyz'] },
  ];
  return createHealth(checks, (check, error) => log.error('health check failed', { check, error }));
}

/** NamespaceLifecycle needs the cache of namespaces for every write. Damaged data must not be served. */
function checkCaches(registry: Registry): void {
  const damage = registry.damages()[0];
  if (damage !== undefined) throw damage;
  const namespaces = registry.find('', 'v1', 'namespaces');
  if (namespaces === undefined || namespaces.storage.cache.revision > 0) return;
  namespaces.storage.cache.ready().catch(() => {});
  throw new Error('the namespaces are not loaded yet');
}

function checkOpen(closing: boolean): void {
  if (closing) throw new Error('the server is shutting down');
}
