/** Restarting the pods of a workload, as a rollout of the same template. */
import { useState } from 'preact/hooks';
import { type ApiObject, isJsonObject, type JsonObject } from '../../meta/index.ts';
import { fieldManager } from '../edit/save.ts';
import { ErrorNote } from '../parts/error-note.tsx';
import type { Kind } from '../state/discovery.ts';
import { currentSession } from '../state/session.ts';
import { t } from '../texts.ts';

/** Whether changes of the template of a workload replace its pods. */
export function hasRollout({ spec }: JsonObject): boolean {
  if (!isJsonObject(spec) || !isJsonObject(spec['template'])) return false;
  return isJsonObject(spec['strategy']) || isJsonObject(spec['updateStrategy']);
}

export interface RestartButtonProps {
  readonly kind: Kind;
  readonly object: ApiObject;
}

export function RestartButton({ kind, object }: RestartButtonProps) {
  const { client, names } = currentSession();
  const [error, setError] = useState<unknown>();
  if (!hasRollout(object)) return null;
  const { name = '', namespace = '' } = object.metadata;
  const restart = () => {
    const annotations = { [`${names.labels}/restartedAt`]: new Date().toISOString() };
    const patch = { spec: { template: { metadata: { annotations } } } };
    client
      .patch({ ...kind, namespace, name }, 'merge', patch, { fieldManager })
      .then(() => setError(undefined), setError);
  };
  return (
    <>
      <button type="button" onClick={restart}>
        {t('restart')}
      </button>
      {error !== undefined && <ErrorNote error={error} />}
    </>
  );
}
