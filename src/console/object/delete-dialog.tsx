/** Deletes an object, after showing what that takes along. */
import { useState } from 'preact/hooks';
import type { ApiObject } from '../../meta/index.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import type { Kind } from '../state/discovery.ts';
import { currentSession } from '../state/session.ts';
import { type TextKey, t } from '../texts.ts';
import { Dependents } from './relations-panel.tsx';

const policies = ['Background', 'Foreground', 'Orphan'] as const;
type Policy = (typeof policies)[number];

const policyTexts: { readonly [policy in Policy]: TextKey } = {
  Background: 'background',
  Foreground: 'foreground',
  Orphan: 'orphan',
};

export interface DeleteDialogProps {
  readonly kind: Kind;
  readonly object: ApiObject;
  readonly onClose: () => void;
}

export function DeleteDialog({ kind, object, onClose }: DeleteDialogProps) {
  const { client } = currentSession();
  const [policy, setPolicy] = useState<Policy>('Background');
  const [error, setError] = useState<unknown>();
  const { name = '', namespace, uid } = object.metadata;
  const remove = async () => {
    const place = { ...kind, name, ...(namespace === undefined ? {} : { namespace }) };
    try {
      const preconditions = uid === undefined ? {} : { preconditions: { uid } };
      await client.delete(place, { propagationPolicy: policy, ...preconditions });
      onClose();
    } catch (why) {
      setError(why);
    }
  };
  return (
    <Dialog title={t('deleteTitle', { name })} onClose={onClose}>
      {error !== undefined && <ErrorNote error={error} />}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void remove();
        }}
      >
        <fieldset>
          <legend>{t('propagation')}</legend>
          {policies.map((choice) => (
            <label key={choice} class="row">
              <input type="radio" name="policy" checked={policy === choice} onChange={() => setPolicy(choice)} />
              {t(policyTexts[choice])}
            </label>
          ))}
        </fieldset>
        {policy !== 'Orphan' && (
          <div>
            <p>{t('takesAlong')}</p>
            <Dependents owner={object} atOnce />
          </div>
        )}
        <div class="row end">
          <button type="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" class="danger">
            {t('delete')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
