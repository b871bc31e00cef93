/** How far the rollout of a workload is. */
import { isJsonObject, type JsonObject } from '../../meta/index.ts';
import { Panel } from '../parts/panel.tsx';
import { t } from '../texts.ts';
import { hasRollout } from './restart.tsx';

/** The pods of a rollout. */
export interface RolloutState {
  readonly all: number;
  readonly updated: number;
  readonly available: number;
  readonly done: boolean;
}

/** The state of a rollout, from the status of any workload kind. */
function rolloutOf({ spec, status, metadata }: JsonObject): RolloutState {
  const count = (of: unknown, ...names: string[]) => {
    const values = isJsonObject(of as JsonObject) ? (of as JsonObject) : {};
    const found = names.map((name) => values[name]).find((value) => typeof value === 'number');
    return typeof found === 'number' ? found : undefined;
  };
  const all = count(status, 'desiredNumberScheduled') ?? count(spec, 'replicas') ?? 1;
  const updated = count(status, 'updatedReplicas', 'updatedNumberScheduled') ?? 0;
  const available = count(status, 'availableReplicas', 'numberAvailable') ?? 0;
  const running = count(status, 'replicas', 'currentNumberScheduled') ?? 0;
  const observed = (count(status, 'observedGeneration') ?? 0) >= (count(metadata, 'generation') ?? 0);
  return { all, updated, available, done: observed && updated >= all && available >= all && running <= all };
}

export function RolloutPanel({ object }: { readonly object: JsonObject }) {
  if (!hasRollout(object)) return null;
  const { all, updated, available, done } = rolloutOf(object);
  const updatedText = t('rolloutUpdated', { updated, all });
  const availableText = t('rolloutAvailable', { available, all });
  return (
    <Panel title={t('rollout')}>
      <div data-testid="rollout" data-done={done}>
        <p>{updatedText}</p>
        <progress aria-label={updatedText} max={Math.max(all, 1)} value={updated} />
        <p>{availableText}</p>
        <progress aria-label={availableText} max={Math.max(all, 1)} value={available} />
        {done && <p class="dim">{t('rolloutDone')}</p>}
      </div>
    </Panel>
  );
}
