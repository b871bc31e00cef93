/** Editing an object: a draft, its review, and saving it. */
import { useMemo, useState } from 'preact/hooks';
import type { ApiObject } from '../../meta/index.ts';
import { fieldOwners } from '../object/field-owners.ts';
import { guideOf } from '../object/guide.ts';
import type { FieldPath } from '../object/paths.ts';
import type { KindSchema } from '../object/schema.ts';
import { ErrorNote } from '../parts/error-note.tsx';
import type { Kind } from '../state/discovery.ts';
import { currentSession } from '../state/session.ts';
import { t } from '../texts.ts';
import { type Change, removalsOf } from './apply-plan.ts';
import { Review } from './review.tsx';
import { fieldManager, saveChange } from './save.ts';
import { readYaml, yamlOf, yamlProblems } from './yaml.ts';
import { YamlView } from './yaml-view.tsx';

export interface EditObjectProps {
  readonly kind: Kind;
  /** The latest state of the object. */
  readonly object: ApiObject;
  readonly schema: KindSchema | undefined;
  readonly onField: (path: FieldPath) => void;
  /** The change is saved or given up. */
  readonly onDone: () => void;
}

export function EditObject({ kind, object, schema, onField, onDone }: EditObjectProps) {
  const session = currentSession();
  /** The object as it was when the editing began. */
  const [base] = useState(object);
  const original = useMemo(() => yamlOf(base), [base]);
  const owners = useMemo(() => fieldOwners(base), [base]);
  const guide = useMemo(() => guideOf(owners, schema), [owners, schema]);
  const [draft, setDraft] = useState(original);
  const [change, setChange] = useState<Change>();
  const [error, setError] = useState<unknown>();
  const review = () => {
    try {
      const after = readYaml(draft);
      const listKeys = (path: FieldPath) => schema?.listKeys(path);
      setChange({ before: base, after, owners, manager: fieldManager, listKeys });
      setError(undefined);
    } catch (why) {
      setError(new Error(t('invalidYaml', { why: why instanceof Error ? why.message : String(why) })));
    }
  };
  const isStale = object.metadata.resourceVersion !== base.metadata.resourceVersion;
  const note = isStale && <p class="note warning">{t('changedMeanwhile')}</p>;
  if (change !== undefined) {
    return (
      <>
        {note}
        <Review
          before={base}
          removals={removalsOf(change)}
          save={(resolution, dryRun) => saveChange(session, kind, change, { resolution, dryRun })}
          onSaved={onDone}
          onBack={() => setChange(undefined)}
        />
      </>
    );
  }
  return (
    <>
      {note}
      {error !== undefined && <ErrorNote error={error} />}
      <div class="bar">
        <span class="actions">
          <button type="button" onClick={onDone}>
            {t('cancel')}
          </button>
          <button type="button" class="primary" onClick={review}>
            {t('review')}
          </button>
        </span>
      </div>
      <YamlView
        label={t('yamlOf', { name: base.metadata.name ?? '' })}
        text={draft}
        editable
        guide={guide}
        check={yamlProblems}
        onChange={setDraft}
        onField={onField}
      />
    </>
  );
}
