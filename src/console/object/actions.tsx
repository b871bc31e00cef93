/** The actions on an object that the user has the right to. */
import { useState } from 'preact/hooks';
import type { ApiObject } from '../../meta/index.ts';
import { actionOn, useAllowed } from '../state/access.ts';
import type { Kind } from '../state/discovery.ts';
import { t } from '../texts.ts';
import { RestartButton } from '../workloads/restart.tsx';
import { ScaleDialog } from '../workloads/scale-dialog.tsx';
import { DeleteDialog } from './delete-dialog.tsx';

export interface ActionsProps {
  readonly kind: Kind;
  readonly object: ApiObject;
  readonly onEdit: () => void;
  /** Shows the values of a secret. Absent: they are shown. */
  readonly onReveal?: () => void;
}

export function Actions({ kind, object, onEdit, onReveal }: ActionsProps) {
  const [open, setOpen] = useState<'scale' | 'delete'>();
  const { verbs, subresources } = kind;
  const patch = actionOn('patch', kind, object);
  const mayPatch = useAllowed(verbs.includes('patch') ? patch : undefined);
  const mayDelete = useAllowed(verbs.includes('delete') ? actionOn('delete', kind, object) : undefined);
  const mayScale = useAllowed(subresources.includes('scale') ? { ...patch, subresource: 'scale' } : undefined);
  const close = () => setOpen(undefined);
  return (
    <span class="actions">
      {onReveal !== undefined && (
        <button type="button" onClick={onReveal}>
          {t('showValues')}
        </button>
      )}
      {mayScale && (
        <button type="button" onClick={() => setOpen('scale')}>
          {t('scale')}
        </button>
      )}
      {mayPatch && <RestartButton kind={kind} object={object} />}
      {mayPatch && (
        <button type="button" onClick={onEdit}>
          {t('edit')}
        </button>
      )}
      {mayDelete && (
        <button type="button" class="danger" onClick={() => setOpen('delete')}>
          {t('delete')}
        </button>
      )}
      {open === 'scale' && <ScaleDialog kind={kind} object={object} onClose={close} />}
      {open === 'delete' && <DeleteDialog kind={kind} object={object} onClose={close} />}
    </span>
  );
}
