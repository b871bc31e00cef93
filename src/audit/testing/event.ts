import { namesFor } from '../../meta/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { emptyAuditCounts } from '../auditor.ts';
import type { AuditEvent } from '../types.ts';

/** An event of a GET with this Audit-ID. */
export const eventOf = (auditID: string, fields: Partial<AuditEvent> = {}): AuditEvent => ({
  level: 'Metadata',
  auditID,
  stage: 'ResponseComplete',
  requestURI: '/api/v1/pods',
  verb: 'list',
  user: { username: 'jane' },
  received: 1_700_000_000_000,
  reached: 1_700_000_000_001,
  ...fields,
});

/** The dependencies of backends, and the messages that they logged. */
export function backendFixture() {
  const logged: { readonly text: string; readonly fields: { readonly [name: string]: unknown } }[] = [];
  return {
    names: namesFor('k8s.io'),
    clock: drivenClock(),
    counts: emptyAuditCounts(),
    random: { integer: () => 0 },
    logged,
    log: {
      error: (text: string, fields: { readonly [name: string]: unknown }) => void logged.push({ text, fields }),
    },
  };
}

/** Lets everything run that waits for no timer and no file. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}
