import { modes } from '../../audit/index.ts';
import { flag } from './flag.ts';
import * as type from './flag-types.ts';

const count = type.integer(1, 1_000_000);
const bytes = type.integer(1, 1_000_000_000, 'bytes');
const bufferHelp =
  'Maximum number of events that wait to be written. Further events are dropped, which a metric counts.';
const truncateHelp =
  'Whether events larger than the maximum size lose their request and response objects. Events that are still too large are dropped.';

const modeHelp = (medium: string) =>
  `\`batch\`: requests do not wait for ${medium}. \`blocking\`: a request waits until its events are written. \`blocking-strict\`: a request is also rejected when its first event cannot be written.`;

/** The flags of auditing. */
export const auditFlags = {
  auditPolicyFile: flag(
    'Audit',
    type.file,
    undefined,
    'Audit policy file: which requests are recorded, and in how much detail. If not set, the default policy of [audit.md](audit.md) applies once a log or a webhook is configured.',
  ),
  auditLogPath: flag(
    'Audit',
    type.file,
    undefined,
    'File to which audit events are appended; `-` means standard output. If not set, there is no audit log.',
  ),
  auditLogFormat: flag(
    'Audit',
    type.oneOf('json', 'legacy'),
    'json',
    'Format of the audit log: `json` writes each event as a line of JSON, `legacy` as a line of text with some of its fields.',
  ),
  auditLogMaxsize: flag(
    'Audit',
    type.integer(0, 1_000_000, 'megabytes'),
    0,
    'Maximum size of the audit log in megabytes before it is rotated; 0 means 100.',
  ),
  auditLogMaxage: flag(
    'Audit',
    type.integer(0, 36_500, 'days'),
    0,
    'Maximum age in days of rotated audit logs; 0 means no limit.',
  ),
  auditLogMaxbackup: flag(
    'Audit',
    type.integer(0, 1_000_000),
    0,
    'Maximum number of rotated audit logs; 0 means no limit.',
  ),
  auditLogCompress: flag('Audit', type.boolean, false, 'Whether rotated audit logs are compressed with gzip.'),
  auditLogMode: flag('Audit', type.oneOf(...modes), 'batch', modeHelp('the audit log')),
  auditLogBatchBufferSize: flag('Audit', count, 10_000, bufferHelp),
  auditLogBatchMaxSize: flag('Audit', count, 10_000, 'Maximum number of events in one write to the audit log.'),
  auditLogBatchMaxWait: flag(
    'Audit',
    type.duration,
    0,
    'How long events wait for a batch to fill before they are written, in the mode `batch`.',
  ),
  auditLogBatchThrottleEnable: flag(
    'Audit',
    type.boolean,
    false,
    'Whether the rate of writes to the audit log is limited, in the mode `batch`.',
  ),
  auditLogBatchThrottleQps: flag('Audit', count, 10, 'Average number of writes to the audit log per second.'),
  auditLogBatchThrottleBurst: flag(
    'Audit',
    count,
    15,
    'Maximum burst of writes to the audit log after a period below the average.',
  ),
  auditLogTruncateEnabled: flag('Audit', type.boolean, false, truncateHelp),
  auditLogTruncateMaxEventSize: flag(
    'Audit',
    bytes,
    102_400,
    'Maximum size in bytes of an event in the audit log, when truncation is enabled.',
  ),
  auditLogTruncateMaxBatchSize: flag(
    'Audit',
    bytes,
    10_485_760,
    'Maximum size in bytes of one write to the audit log, when truncation is enabled.',
  ),
  auditWebhookConfigFile: flag(
    'Audit',
    type.file,
    undefined,
    'Kubeconfig of the webhook to which audit events are sent. If not set, there is no audit webhook.',
  ),
  auditWebhookInitialBackoff: flag(
    'Audit',
    type.duration,
    10_000,
    'Delay before the first retry of a failed request to the audit webhook; each of the three further delays is 1.5 times as long as the one before.',
  ),
  auditWebhookMode: flag('Audit', type.oneOf(...modes), 'batch', modeHelp('the audit webhook')),
  auditWebhookBatchBufferSize: flag('Audit', count, 10_000, bufferHelp.replace('written', 'sent')),
  auditWebhookBatchMaxSize: flag('Audit', count, 400, 'Maximum number of events in one request to the audit webhook.'),
  auditWebhookBatchMaxWait: flag(
    'Audit',
    type.duration,
    30_000,
    'How long events wait for a batch to fill before they are sent, in the mode `batch`.',
  ),
  auditWebhookBatchThrottleEnable: flag(
    'Audit',
    type.boolean,
    true,
    'Whether the rate of requests to the audit webhook is limited, in the mode `batch`.',
  ),
  auditWebhookBatchThrottleQps: flag('Audit', count, 10, 'Average number of requests to the audit webhook per second.'),
  auditWebhookBatchThrottleBurst: flag(
    'Audit',
    count,
    15,
    'Maximum burst of requests to the audit webhook after a period below the average.',
  ),
  auditWebhookTruncateEnabled: flag('Audit', type.boolean, false, truncateHelp),
  auditWebhookTruncateMaxEventSize: flag(
    'Audit',
    bytes,
    102_400,
    'Maximum size in bytes of an event that is sent, when truncation is enabled.',
  ),
  auditWebhookTruncateMaxBatchSize: flag(
    'Audit',
    bytes,
    10_485_760,
    'Maximum size in bytes of a request to the audit webhook, when truncation is enabled.',
  ),
};
