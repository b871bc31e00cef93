import { modes } from '../../audit/index.ts';
import { flag } from './flag.ts';
import * as type from './flag-types.ts';

const count = type.integer(1, 1_000_000);
const bytes = type.integer(1, 1_000_000_000, 'bytes');
const bufferHelp = 'The most events that wait to be written; further ones are lost, which a metric counts.';
const truncateHelp =
  'Events larger than the size below are recorded without their request and response objects, and lost if they are still too large.';

const modeHelp = (medium: string) =>
  `\`batch\`: no request waits for ${medium}. \`blocking\`: a request waits until its events are written. \`blocking-strict\`: it is also refused if its first event cannot be written.`;

/** The flags of auditing. */
export const auditFlags = {
  auditPolicyFile: flag(
    'Audit',
    type.file,
    undefined,
    'Audit policy: which requests are recorded, and how much of them. Without one, the default policy of [audit.md](audit.md) applies where a log or a webhook is given.',
  ),
  auditLogPath: flag(
    'Audit',
    type.file,
    undefined,
    'File to which audit events are appended; `-` is standard output. Without one there is no audit log.',
  ),
  auditLogFormat: flag(
    'Audit',
    type.oneOf('json', 'legacy'),
    'json',
    '`json` writes each event as a line of JSON, `legacy` as a line of text with some of its fields.',
  ),
  auditLogMaxsize: flag(
    'Audit',
    type.integer(0, 1_000_000, 'megabytes'),
    0,
    'Size at which the audit log is rotated, in megabytes; 0 stands for 100.',
  ),
  auditLogMaxage: flag(
    'Audit',
    type.integer(0, 36_500, 'days'),
    0,
    'Days for which rotated audit logs are kept; 0 is no limit.',
  ),
  auditLogMaxbackup: flag(
    'Audit',
    type.integer(0, 1_000_000),
    0,
    'How many rotated audit logs are kept; 0 is no limit.',
  ),
  auditLogCompress: flag('Audit', type.boolean, false, 'Rotated audit logs are compressed with gzip.'),
  auditLogMode: flag('Audit', type.oneOf(...modes), 'batch', modeHelp('the audit log')),
  auditLogBatchBufferSize: flag('Audit', count, 10_000, bufferHelp),
  auditLogBatchMaxSize: flag('Audit', count, 10_000, 'The most events of one write to the audit log.'),
  auditLogBatchMaxWait: flag(
    'Audit',
    type.duration,
    0,
    'How long events wait for others before they are written, in the mode `batch`.',
  ),
  auditLogBatchThrottleEnable: flag(
    'Audit',
    type.boolean,
    false,
    'Writes to the audit log are limited in number, in the mode `batch`.',
  ),
  auditLogBatchThrottleQps: flag('Audit', count, 10, 'Writes to the audit log for each second on average.'),
  auditLogBatchThrottleBurst: flag(
    'Audit',
    count,
    15,
    'Writes to the audit log at once, when there were fewer than the average before.',
  ),
  auditLogTruncateEnabled: flag('Audit', type.boolean, false, truncateHelp),
  auditLogTruncateMaxEventSize: flag(
    'Audit',
    bytes,
    102_400,
    'The largest event in the audit log, when they are truncated.',
  ),
  auditLogTruncateMaxBatchSize: flag(
    'Audit',
    bytes,
    10_485_760,
    'The most that is written at once, when events are truncated.',
  ),
  auditWebhookConfigFile: flag(
    'Audit',
    type.file,
    undefined,
    'Kubeconfig of the webhook to which audit events are sent. Without one there is no audit webhook.',
  ),
  auditWebhookInitialBackoff: flag(
    'Audit',
    type.duration,
    10_000,
    'The time before a failed request to the audit webhook is repeated; each of the three times after it is half as long again.',
  ),
  auditWebhookMode: flag('Audit', type.oneOf(...modes), 'batch', modeHelp('the audit webhook')),
  auditWebhookBatchBufferSize: flag('Audit', count, 10_000, bufferHelp.replace('written', 'sent')),
  auditWebhookBatchMaxSize: flag('Audit', count, 400, 'The most events of one request to the audit webhook.'),
  auditWebhookBatchMaxWait: flag(
    'Audit',
    type.duration,
    30_000,
    'How long events wait for others before they are sent, in the mode `batch`.',
  ),
  auditWebhookBatchThrottleEnable: flag(
    'Audit',
    type.boolean,
    true,
    'Requests to the audit webhook are limited in number, in the mode `batch`.',
  ),
  auditWebhookBatchThrottleQps: flag('Audit', count, 10, 'Requests to the audit webhook for each second on average.'),
  auditWebhookBatchThrottleBurst: flag(
    'Audit',
    count,
    15,
    'Requests to the audit webhook at once, when there were fewer than the average before.',
  ),
  auditWebhookTruncateEnabled: flag('Audit', type.boolean, false, truncateHelp),
  auditWebhookTruncateMaxEventSize: flag(
    'Audit',
    bytes,
    102_400,
    'The largest event that is sent, when they are truncated.',
  ),
  auditWebhookTruncateMaxBatchSize: flag(
    'Audit',
    bytes,
    10_485_760,
    'The largest request to the audit webhook, when events are truncated.',
  ),
};
