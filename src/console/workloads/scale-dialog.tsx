/** Scaling a workload. */
import { useState } from 'preact/hooks';
import { type ApiObject, isJsonObject } from '../../meta/index.ts';
import { fieldManager } from '../edit/save.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import type { Kind } from '../state/discovery.ts';
import { currentSession } from '../state/session.ts';
import { t } from '../texts.ts';

export interface ScaleDialogProps {
  readonly kind: Kind;
  readonly object: ApiObject;
  readonly onClose: () => void;
}

export function ScaleDialog({ kind, object, onClose }: ScaleDialogProps) {
  const { client } = currentSession();
  const [error, setError] = useState<unknown>();
  const { name = '', namespace = '' } = object.metadata;
  const current = isJsonObject(object['spec']) ? object['spec']['replicas'] : undefined;
  const scale = (event: SubmitEvent) => {
    event.preventDefault();
    const replicas = Number(new FormData(event.currentTarget as HTMLFormElement).get('replicas'));
    const place = { ...kind, namespace, name, subresource: 'scale' };
    client.patch(place, 'merge', { spec: { replicas } }, { fieldManager }).then(onClose, setError);
  };
  return (
    <Dialog title={`${t('scale')}: ${name}`} onClose={onClose}>
      {error !== undefined && <ErrorNote error={error} />}
      <form onSubmit={scale}>
        <label class="row">
          {t('replicas')}
          <input name="replicas" type="number" min={0} required value={typeof current === 'number' ? current : 1} />
        </label>
        <div class="row end">
          <button type="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" class="primary">
            {t('scale')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
