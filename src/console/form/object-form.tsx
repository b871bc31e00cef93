/** An object as a form: its fields by section, with what the schema says about them. */
import { useRef } from 'preact/hooks';
import type { Json, JsonObject } from '../../meta/index.ts';
import { serverFields } from '../edit/apply-plan.ts';
import type { FieldPath } from '../object/paths.ts';
import type { KindSchema } from '../object/schema.ts';
import { t } from '../texts.ts';
import { withMember } from './controls.ts';
import { type Form, Members } from './fields.tsx';

export interface ObjectFormProps {
  readonly object: JsonObject;
  readonly schema: KindSchema | undefined;
  /** The focus has moved to a field. */
  readonly onField: (path: FieldPath) => void;
  /** Absent: the form is to be read. */
  readonly onChange?: (object: JsonObject) => void;
}

/** The element of the form. */
export const formId = 'object-form';

/** Fields that are not edited: what names the object, and what the server sets. */
const hidden: { readonly [path: string]: readonly string[] } = {
  '': ['apiVersion', 'kind', 'status'],
  metadata: [...serverFields, 'name', 'namespace', 'generateName', 'deletionTimestamp', 'deletionGracePeriodSeconds'],
};

export function ObjectForm({ object, schema, onField, onChange }: ObjectFormProps) {
  // Two inputs may change before the form is drawn again.
  const latest = useRef(object);
  latest.current = object;
  if (schema === undefined) return <p class="dim">{t('noSchema')}</p>;
  const form: Form = {
    schema,
    disabled: onChange === undefined,
    hidden: (path) => (path.length < 2 ? (hidden[path.join('.')] ?? []) : []),
    onField,
    change: (path: FieldPath, value: Json | undefined) => {
      latest.current = withMember(latest.current, path, value) as JsonObject;
      onChange?.(latest.current);
    },
  };
  return (
    <form id={formId} class="form" aria-label={t('form')} onSubmit={(event) => event.preventDefault()}>
      <Members form={form} path={[]} value={object} />
    </form>
  );
}
