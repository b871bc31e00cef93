import type { EncryptionCounts } from '../../encryption/index.ts';
import type { MetricSet } from './metric.ts';

type CountsName = 'transformations' | 'reloads' | 'keyIds' | 'statuses';

const labels: { readonly [counts in CountsName]: readonly string[] } = {
  transformations: ['resource', 'transformation_type', 'transformer_prefix', 'status'],
  reloads: ['status'],
  keyIds: ['transformation_type', 'provider_name', 'key_id_hash'],
  statuses: ['provider_name', 'key_id_hash'],
};

/** Declares the metrics of encryption at rest. */
export function declareEncryptionMetrics(set: MetricSet, encryption: EncryptionCounts): void {
  const declare = (name: string, type: 'counter' | 'gauge', help: string, counts: CountsName) =>
    set.observable({
      type,
      name: `apiserver_${name}`,
      // A gauge is the time of the last event.
      across: type === 'counter' ? 'sum' : 'max',
      stability: 'ALPHA',
      help,
      labels: labels[counts],
      *read() {
        for (const entry of encryption[counts].all()) {
          yield [entry.labels, type === 'counter' ? entry.value : entry.seconds];
        }
      },
    });
  declare(
    'storage_transformation_operations_total',
    'counter',
    'Values encrypted and decrypted, by resource, provider and outcome.',
    'transformations',
  );
  declare(
    'encryption_config_controller_automatic_reloads_total',
    'counter',
    'Reloads of the encryption configuration, by outcome.',
    'reloads',
  );
  declare(
    'encryption_config_controller_automatic_reload_last_timestamp_seconds',
    'gauge',
    'When the encryption configuration was last reloaded, by outcome.',
    'reloads',
  );
  set.observable({
    type: 'gauge',
    name: 'apiserver_encryption_config_controller_last_config_info',
    across: 'one',
    stability: 'ALPHA',
    help: 'The hash of the encryption configuration in use.',
    labels: ['hash'],
    read: () => (encryption.configurationHash === '' ? [] : [[{ hash: encryption.configurationHash }, 1]]),
  });
  declare(
    'envelope_encryption_key_id_hash_total',
    'counter',
    'Values encrypted and decrypted with a key of a KMS plugin, by the hash of its key ID.',
    'keyIds',
  );
  declare(
    'envelope_encryption_key_id_hash_last_timestamp_seconds',
    'gauge',
    'When a key of a KMS plugin was last used, by the hash of its key ID.',
    'keyIds',
  );
  declare(
    'envelope_encryption_key_id_hash_status_last_timestamp_seconds',
    'gauge',
    'When a KMS plugin last told the key ID in its status, by its hash.',
    'statuses',
  );
  set.observable({
    type: 'gauge',
    name: 'apiserver_envelope_encryption_dek_source_cache_size',
    stability: 'ALPHA',
    help: 'Keys in memory that a KMS plugin has decrypted.',
    labels: ['provider_name'],
    *read() {
      for (const [plugin, size] of encryption.keySources()) yield [{ provider_name: plugin }, size];
    },
  });
}
