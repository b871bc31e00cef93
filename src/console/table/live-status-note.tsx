/** Tells whether what is shown is current. */
import type { LiveStatus } from '../state/live-events.ts';
import { t } from '../texts.ts';

export function LiveStatusNote({ status }: { readonly status: LiveStatus | 'failed' }) {
  return (
    <span class={`status ${status}`} role="status" data-testid="live-status" data-status={status}>
      {t(status)}
    </span>
  );
}
