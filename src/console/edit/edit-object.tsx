/** Editing an object: a draft, its review, and saving it. */
import { useMemo, useState } from 'preact/hooks';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import { formId, ObjectForm } from '../form/object-form.tsx';
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
import { yamlProblems } from './validation.ts';
import { readYaml, yamlOf } from './yaml.ts';
import { YamlView } from './yaml-view.tsx';

export interface EditObjectProps {
  readonly kind: Kind;
  /** The latest state of the object. */
  readonly object: ApiObject;
  readonly schema: KindSchema | undefined;
  /** Whether the draft is edited as a form, not as YAML. */
  readonly asForm: boolean;
  readonly onField: (path: FieldPath) => void;
  /** The change is saved or given up. */
  readonly onDone: () => void;
}

export function EditObject({ kind, object, schema, asForm, onField, onDone }: EditObjectProps) {
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
    const element = document.getElementById(formId);
    if (element instanceof HTMLFormElement && !element.reportValidity()) return;
    try {
      const after = readYaml(draft);
      const listKeys = (path: FieldPath) => schema?.listKeys(path);
      setChange({ before: base, after, owners, manager: fieldManager, listKeys });
      setError(undefined);
    } catch (why) {
      setError(invalidYaml(why));
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
      {asForm ? (
        <DraftForm draft={draft} schema={schema} onField={onField} onDraft={setDraft} />
      ) : (
        <YamlView
          label={t('yamlOf', { name: base.metadata.name ?? '' })}
          text={draft}
          editable
          guide={guide}
          check={(typed) => yamlProblems(typed, schema)}
          onChange={setDraft}
          onField={onField}
        />
      )}
    </>
  );
}

interface DraftFormProps extends Pick<EditObjectProps, 'schema' | 'onField'> {
  readonly draft: string;
  readonly onDraft: (draft: string) => void;
}

function DraftForm({ draft, schema, onField, onDraft }: DraftFormProps) {
  const object = useMemo(() => readOrProblem(draft), [draft]);
  if (object instanceof Error) return <ErrorNote error={object} />;
  return (
    <ObjectForm object={object} schema={schema} onField={onField} onChange={(changed) => onDraft(yamlOf(changed))} />
  );
}

const invalidYaml = (why: unknown): Error =>
  new Error(t('invalidYaml', { why: why instanceof Error ? why.message : String(why) }));

/** The object of a draft, or why it is not one. */
function readOrProblem(draft: string): JsonObject | Error {
  try {
    return readYaml(draft);
  } catch (why) {
    return invalidYaml(why);
  }
}
