import { serverTurns } from '../../meta/index.ts';
import type { ServerComponents } from '../compose.ts';
import type { Log } from '../dependencies.ts';
import type { OwnerCalls } from './messages.ts';
import type { Workers } from './workers.ts';

/** The functions of the owner for its workers. */
export function ownerCalls(
  { health, metrics, auditor }: Pick<ServerComponents, 'health' | 'metrics' | 'auditor'>,
  log: Log,
  workers: () => Pick<Workers, 'resetMetrics' | 'setLogLevels'>,
): Omit<OwnerCalls, 'closed'> {
  return {
    async health(path, { verbose, exclude, include }) {
      const query = new URLSearchParams(verbose ? { verbose: '' } : {});
      for (const name of exclude) query.append('exclude', name);
      for (const name of include) query.append('include', name);
      const answer = await health.serve(path, query);
      if (answer === undefined) throw new Error(`${path} is not the path of a health check`);
      return answer;
    },
    healthOutcomes: async () => health.outcomes(),
    async metrics() {
      let text = '';
      for await (const piece of metrics.text(serverTurns())) text += piece;
      return text;
    },
    async resetMetrics() {
      metrics.reset();
      await workers().resetMetrics();
    },
    setLogLevels(text) {
      if (log.levels?.set(text) === undefined) workers().setLogLevels(text);
    },
    async appendAudit(lines) {
      if (auditor?.log === undefined) throw new Error('there is no audit log');
      await auditor.log.append(lines);
    },
  };
}
