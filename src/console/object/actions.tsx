/** What the user may do with an object. */
import { useState } from 'preact/hooks';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import { type Action, useAllowed } from '../state/access.ts';
import type { Kind } from '../state/discovery.ts';
import { t } from '../texts.ts';
import { RestartButton } from '../workloads/restart.tsx';
import { ScaleDialog } from '../workloads/scale-dialog.tsx';
import { DeleteDialog } from './delete-dialog.tsx';

export interface ActionsProps {
  readonly kind: Kind;
  readonly object: ApiObject & JsonObject;
  readonly onEdit: () => void;
}

export function Actions({ kind, object, onEdit }: ActionsProps) {
  const [open, setOpen] = useState<'scale' | 'delete'>();
  const { group, resource, verbs, subresources } = kind;
  const { namespace, name = '' } = object.metadata;
  const on = (verb: string): Action => ({ verb, group, resource, name, ...(namespace ? { namespace } : {}) });
  const mayPatch = useAllowed(on('patch')) && verbs.includes('patch');
  const mayDelete = useAllowed(on('delete')) && verbs.includes('delete');
  const mayScale = useAllowed({ ...on('patch'), subresource: 'scale' }) && subresources.includes('scale');
  const close = () => setOpen(undefined);
  return (
    <span class="actions">
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
