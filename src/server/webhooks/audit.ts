import {
  type AuditBackend,
  type AuditCounts,
  type AuditLog,
  type Auditor,
  createAuditLog,
  createAuditor,
  createWebhookBackend,
  defaultPolicy,
  openLogBackend,
  type Policy,
  parsePolicy,
  type TruncateOptions,
} from '../../audit/index.ts';
import type { Names } from '../../meta/index.ts';
import type { Dependencies } from '../dependencies.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { readSettingFile } from '../settings/read-file.ts';
import { StartError, systemReason } from '../start-error.ts';
import { createWebhookClient, type WebhookClient } from './webhook-client.ts';
import { readWebhookConfig } from './webhook-kubeconfig.ts';

type AuditDependencies = Pick<Dependencies, 'clock' | 'random' | 'log'> & {
  readonly names: Names;
  readonly counts: AuditCounts;
  /** Writes the audit log instead of a file, in a worker. */
  readonly appendAudit: AuditLog['append'] | undefined;
};

/** The auditor of a process, and its audit log, to which workers append; undefined when there is none. */
export interface OpenedAuditor extends Auditor {
  readonly log: AuditLog | undefined;
}

const mebibyte = 1024 * 1024;
const dayMs = 24 * 3_600_000;
/** Timeout of a request to the webhook (ms), maximum size of a response in bytes, and maximum number of concurrent requests. */
const webhookLimits = { timeoutMs: 30_000, maxAnswer: mebibyte, maxRequests: 8 };

/** Opens the auditor of the settings; undefined when they configure neither a log nor a webhook. @throws StartError */
export async function openAuditor(
  settings: ServerSettings,
  dependencies: AuditDependencies,
): Promise<OpenedAuditor | undefined> {
  const { names, counts, clock, log } = dependencies;
  const { auditPolicyFile: file, auditLogPath: path, auditWebhookConfigFile: kubeconfig } = settings;
  const policy = file === undefined ? defaultPolicy(names) : await readPolicy(file, names);
  if (path === undefined && kubeconfig === undefined) {
    if (file !== undefined)
      log.warn('nothing is audited: neither --audit-log-path nor --audit-webhook-config-file', {});
    return undefined;
  }
  const webhook = kubeconfig === undefined ? [] : [await openWebhook(kubeconfig, settings, dependencies)];
  const auditLog = path === undefined ? undefined : auditLogOf(path, settings, dependencies);
  const logs =
    path === undefined || auditLog === undefined ? [] : [await openLog(path, auditLog, settings, dependencies)];
  const auditor = createAuditor({ policy, backends: [...logs, ...webhook], counts, clock, names, log });
  return {
    ...auditor,
    log: auditLog,
    async close(graceMs) {
      // Timers of the clock do not keep the process alive.
      const alive = setInterval(() => {}, 1_000);
      await auditor.close(graceMs).finally(() => clearInterval(alive));
    },
  };
}

async function readPolicy(path: string, names: Names): Promise<Policy> {
  const result = parsePolicy(await readSettingFile('audit-policy-file', path), names);
  if ('policy' in result) return result.policy;
  throw new StartError(`--audit-policy-file=${JSON.stringify(path)}: ${result.problems.join('; ')}`);
}

function auditLogOf(path: string, settings: ServerSettings, dependencies: AuditDependencies): AuditLog {
  const { appendAudit: append } = dependencies;
  if (append !== undefined) return { open: async () => {}, append, close: async () => {} };
  const rotation = {
    maxSize: (settings.auditLogMaxsize === 0 ? 100 : settings.auditLogMaxsize) * mebibyte,
    maxAge: settings.auditLogMaxage * dayMs,
    maxBackups: settings.auditLogMaxbackup,
    compress: settings.auditLogCompress,
  };
  return createAuditLog(path === '-' ? undefined : path, rotation, dependencies);
}

async function openLog(
  path: string,
  auditLog: AuditLog,
  settings: ServerSettings,
  dependencies: AuditDependencies,
): Promise<AuditBackend> {
  const options = {
    log: auditLog,
    format: settings.auditLogFormat,
    batch: {
      mode: settings.auditLogMode,
      bufferSize: settings.auditLogBatchBufferSize,
      batchSize: settings.auditLogBatchMaxSize,
      waitMs: settings.auditLogBatchMaxWait,
      throttle: settings.auditLogBatchThrottleEnable
        ? { qps: settings.auditLogBatchThrottleQps, burst: settings.auditLogBatchThrottleBurst }
        : undefined,
    },
    truncate: truncateOf('log', settings.auditLogTruncateEnabled, {
      maxEventSize: settings.auditLogTruncateMaxEventSize,
      maxBatchSize: settings.auditLogTruncateMaxBatchSize,
    }),
  };
  try {
    return await openLogBackend(options, dependencies);
  } catch (error) {
    throw new StartError(`--audit-log-path=${JSON.stringify(path)} cannot be opened: ${systemReason(error)}`, error);
  }
}

async function openWebhook(
  path: string,
  settings: ServerSettings,
  dependencies: AuditDependencies,
): Promise<AuditBackend> {
  const client = await webhookClient(path);
  const backend = createWebhookBackend(
    {
      async post(body, signal) {
        const { status } = await client.post(body, signal);
        if (status < 200 || status > 299) throw new Error(`the audit webhook responded with status ${status}`);
      },
      initialBackoffMs: settings.auditWebhookInitialBackoff,
      batch: {
        mode: settings.auditWebhookMode,
        bufferSize: settings.auditWebhookBatchBufferSize,
        batchSize: settings.auditWebhookBatchMaxSize,
        waitMs: settings.auditWebhookBatchMaxWait,
        throttle: settings.auditWebhookBatchThrottleEnable
          ? { qps: settings.auditWebhookBatchThrottleQps, burst: settings.auditWebhookBatchThrottleBurst }
          : undefined,
      },
      truncate: truncateOf('webhook', settings.auditWebhookTruncateEnabled, {
        maxEventSize: settings.auditWebhookTruncateMaxEventSize,
        maxBatchSize: settings.auditWebhookTruncateMaxBatchSize,
      }),
    },
    dependencies,
  );
  return {
    ...backend,
    async close(graceMs) {
      await backend.close(graceMs);
      client.close();
    },
  };
}

async function webhookClient(path: string): Promise<WebhookClient> {
  const config = await readWebhookConfig('--audit-webhook-config-file', path);
  try {
    return createWebhookClient(config, webhookLimits);
  } catch (error) {
    const where = `--audit-webhook-config-file=${JSON.stringify(path)}`;
    throw new StartError(`${where}: its certificates cannot be used: ${systemReason(error)}`, error);
  }
}

function truncateOf(backend: string, enabled: boolean, options: TruncateOptions): TruncateOptions | undefined {
  if (!enabled) return undefined;
  if (options.maxBatchSize >= options.maxEventSize) return options;
  const flag = `--audit-${backend}-truncate-max`;
  throw new StartError(`${flag}-batch-size must not be less than ${flag}-event-size`);
}
