import type { Health, Metrics } from '../../http/index.ts';
import type { ByteString } from '../../meta/index.ts';
import type { CallChannel } from './call-channel.ts';
import type { OwnerCalls, WorkerCalls } from './messages.ts';

/** The process that has the store, for its workers. */
export type Owner = Pick<OwnerCalls, 'appendAudit' | 'health' | 'healthOutcomes' | 'metrics' | 'resetMetrics'>;

/** The calls of an owner over a channel. */
export const ownerOver = (channel: CallChannel<WorkerCalls, OwnerCalls>): Owner => ({
  health: (path, parameters) => channel.call('health', path, parameters),
  healthOutcomes: () => channel.call('healthOutcomes'),
  metrics: () => channel.call('metrics'),
  resetMetrics: () => channel.call('resetMetrics'),
  appendAudit: (lines) => channel.call('appendAudit', lines),
});

/** The health of the server. `own`: that of this process, which has the same checks. */
export const ownersHealth = ({ paths }: Health, owner: Owner): Health => ({
  paths,
  serve(path, query) {
    if (!/^\/(?:healthz|livez|readyz)(?:\/|$)/.test(path)) return undefined;
    const parameters = {
      verbose: query.has('verbose'),
      exclude: query.getAll('exclude'),
      include: query.getAll('include'),
    };
    return owner.health(path, parameters);
  },
  outcomes: () => owner.healthOutcomes(),
});

/** The metrics of the server. */
export const ownersMetrics = ({ discoveryAggregated }: Metrics, owner: Owner) => ({
  discoveryAggregated,
  async *text() {
    yield (await owner.metrics()) as ByteString;
  },
  reset: () => owner.resetMetrics(),
});
