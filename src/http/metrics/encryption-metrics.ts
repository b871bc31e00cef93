import { labelText } from './distribution.ts';
import { line, type Metric } from './metric.ts';
import type { Counted } from './metrics.ts';

type CountsName = 'transformations' | 'reloads' | 'keyIds' | 'statuses';

const labels: { readonly [counts in CountsName]: readonly string[] } = {
  transformations: ['resource', 'transformation_type', 'transformer_prefix', 'status'],
  reloads: ['status'],
  keyIds: ['transformation_type', 'provider_name', 'key_id_hash'],
  statuses: ['provider_name', 'key_id_hash'],
};

const counter = (name: string, help: string, counts: CountsName): Metric => ({
  ...{ name: `apiserver_${name}`, stability: 'ALPHA', help, type: 'counter', labels: labels[counts] },
  *lines({ encryption }, metric) {
    for (const one of encryption[counts].all()) yield line(metric, labelText(one.labels), one.value);
  },
});

const lastTime = (name: string, help: string, counts: CountsName): Metric => ({
  ...{ name: `apiserver_${name}`, stability: 'ALPHA', help, type: 'gauge', labels: labels[counts] },
  *lines({ encryption }, metric) {
    for (const one of encryption[counts].all()) yield line(metric, labelText(one.labels), one.seconds);
  },
});

const configurationHash = ({ encryption: { configurationHash: hash } }: Counted, name: string): string[] =>
  hash === '' ? [] : [line(name, labelText({ hash }), 1)];

/** The metrics of encryption at rest. */
export const encryptionMetrics: readonly Metric[] = [
  counter(
    'storage_transformation_operations_total',
    'Values encrypted and decrypted, by resource, provider and outcome.',
    'transformations',
  ),
  counter(
    'encryption_config_controller_automatic_reloads_total',
    'Reloads of the encryption configuration, by outcome.',
    'reloads',
  ),
  lastTime(
    'encryption_config_controller_automatic_reload_last_timestamp_seconds',
    'When the encryption configuration was last reloaded, by outcome.',
    'reloads',
  ),
  {
    name: 'apiserver_encryption_config_controller_last_config_info',
    stability: 'ALPHA',
    help: 'The hash of the encryption configuration in use.',
    type: 'gauge',
    labels: ['hash'],
    lines: configurationHash,
  },
  counter(
    'envelope_encryption_key_id_hash_total',
    'Values encrypted and decrypted with a key of a KMS plugin, by the hash of its key ID.',
    'keyIds',
  ),
  lastTime(
    'envelope_encryption_key_id_hash_last_timestamp_seconds',
    'When a key of a KMS plugin was last used, by the hash of its key ID.',
    'keyIds',
  ),
  lastTime(
    'envelope_encryption_key_id_hash_status_last_timestamp_seconds',
    'When a KMS plugin last told the key ID in its status, by its hash.',
    'statuses',
  ),
  {
    name: 'apiserver_envelope_encryption_dek_source_cache_size',
    stability: 'ALPHA',
    help: 'Keys in memory that a KMS plugin has decrypted.',
    type: 'gauge',
    labels: ['provider_name'],
    *lines({ encryption: { keySources } }, name) {
      for (const [plugin, size] of keySources()) yield line(name, labelText({ provider_name: plugin }), size);
    },
  },
];
