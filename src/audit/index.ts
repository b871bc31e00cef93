/** Audit: the policy, the events of a request, and the backends that keep them. */
export { type Auditor, createAuditor, emptyAuditCounts } from './auditor.ts';
export { type AuditContext, maxObject } from './context.ts';
export { defaultPolicy } from './default-policy.ts';
export { type AuditLog, createAuditLog, openLogBackend, type TruncateOptions } from './log-backend.ts';
export { parsePolicy } from './policy-file.ts';
export { type AuditBackend, type AuditCounts, modes, type Policy, type ResponseStatus } from './types.ts';
export { createWebhookBackend } from './webhook-backend.ts';
