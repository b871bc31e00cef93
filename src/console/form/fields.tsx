/** The fields of a form. Sections are drawn when they are opened. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';
import { exampleValue } from '../edit/example.ts';
import { type FieldPath, pathText } from '../object/paths.ts';
import {
  descriptionOf,
  fieldsOf,
  firstSentence,
  type KindSchema,
  requiredOf,
  type Schema,
  typeText,
} from '../object/schema.ts';
import { t } from '../texts.ts';
import { type Control, controlOf, maxMembers } from './controls.ts';
import { Choice, hintOf, type InputProps, Mixed, NumberInput, Switch, Text, Yaml } from './inputs.tsx';

/** The settings that the fields of a form share. */
export interface Form {
  readonly schema: KindSchema;
  readonly disabled: boolean;
  /** The fields that are left out at a path. */
  readonly hidden: (path: FieldPath) => readonly string[];
  readonly onField: (path: FieldPath) => void;
  /** Replaces the value of a field, or removes the field when it is undefined. */
  readonly change: (path: FieldPath, value: Json | undefined) => void;
}

interface PartProps {
  readonly form: Form;
  readonly path: FieldPath;
  readonly value: Json | undefined;
}

interface FieldProps extends PartProps {
  readonly required: boolean;
  readonly multiline?: boolean;
}

/** Sections above this depth are open at first. */
const openDepth = 2;

const inputs: { readonly [control in Control]?: (props: InputProps) => VNode } = {
  choice: Choice,
  switch: Switch,
  number: NumberInput,
  mixed: Mixed,
  text: Text,
  yaml: Yaml,
};

const groups: { readonly [control in Control]?: (props: PartProps) => VNode } = {
  section: Members,
  map: Entries,
  list: Items,
};

function Field({ form, path, value, required, multiline = false }: FieldProps) {
  const schema = form.schema.at(path);
  const control = controlOf(schema, value, path.length);
  const Group = groups[control];
  if (Group !== undefined) {
    return <Section form={form} path={path} value={value} required={required} Content={Group} />;
  }
  const Input = inputs[control] ?? Yaml;
  const id = `field-${pathText(path)}`;
  return (
    <div class="field" onFocusCapture={() => form.onField(path)}>
      <div class="row">
        <label for={id}>
          {nameOf(path, value)}
          {required && <span class="dim"> ({t('required')})</span>}
        </label>
        {!required && <Remove form={form} path={path} />}
      </div>
      <Input
        id={id}
        schema={schema ?? {}}
        value={value}
        disabled={form.disabled}
        multiline={multiline}
        onChange={(changed) => form.change(path, changed)}
      />
      <Hint id={hintOf(id)} schema={schema ?? {}} />
    </div>
  );
}

interface SectionProps extends FieldProps {
  readonly Content: (props: PartProps) => VNode;
}

function Section({ form, path, value, required, Content }: SectionProps) {
  const [open, setOpen] = useState(path.length < openDepth);
  const schema = form.schema.at(path) ?? {};
  return (
    <details
      class="section"
      open={open}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      onFocusCapture={() => form.onField(path)}
    >
      <summary>
        {nameOf(path, value)} <span class="dim">{required ? t('required') : typeText(schema)}</span>
      </summary>
      {open && (
        <div class="inside">
          <div class="row">
            <Hint id={hintOf(`field-${pathText(path)}`)} schema={schema} />
            {!required && path.length > 1 && <Remove form={form} path={path} />}
          </div>
          <Content form={form} path={path} value={value} />
        </div>
      )}
    </details>
  );
}

/** The fields of an object: those that are set or required, and a choice of the others. */
export function Members({ form, path, value }: PartProps) {
  const schema = form.schema.at(path) ?? {};
  const members = isJsonObject(value) ? value : {};
  const required = requiredOf(schema);
  const hidden = form.hidden(path);
  const known = fieldsOf(schema).map(([name]) => name);
  const names = [...new Set([...known, ...Object.keys(members)])].filter((name) => !hidden.includes(name));
  const isShown = (name: string) => Object.hasOwn(members, name) || required.includes(name);
  const others = names.filter((name) => !isShown(name));
  return (
    <>
      {names.filter(isShown).map((name) => (
        <Field
          key={name}
          form={form}
          path={[...path, name]}
          value={memberOf(members, name)}
          required={required.includes(name)}
        />
      ))}
      {!form.disabled && others.length > 0 && <AddField form={form} path={path} names={others} />}
    </>
  );
}

function AddField({ form, path, names }: { readonly form: Form; readonly path: FieldPath; readonly names: string[] }) {
  const [chosen, setChosen] = useState('');
  const name = names.includes(chosen) ? chosen : (names[0] ?? '');
  const label = path.length === 0 ? t('addField') : t('addFieldTo', { field: pathText(path) });
  return (
    <div class="row">
      <select aria-label={label} value={name} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
        {names.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      <Add label={label} onAdd={() => form.change([...path, name], exampleValue(form.schema, [...path, name]))} />
    </div>
  );
}

/** The members of a map, whose names are free. */
function Entries({ form, path, value }: PartProps) {
  const [key, setKey] = useState('');
  const members = isJsonObject(value) ? value : {};
  const label = t('addFieldTo', { field: pathText(path) });
  const isNew = key !== '' && !Object.hasOwn(members, key) && Object.keys(members).length < maxMembers;
  const add = () => {
    form.change([...path, key], emptyValue(form.schema, [...path, key]));
    setKey('');
  };
  return (
    <>
      {Object.entries(members).map(([name, member]) => (
        <Field key={name} form={form} path={[...path, name]} value={member} required={false} multiline />
      ))}
      {!form.disabled && (
        <div class="row">
          <input
            aria-label={t('keyOf', { field: pathText(path) })}
            placeholder={t('key')}
            value={key}
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
          />
          <Add label={label} disabled={!isNew} onAdd={add} />
        </div>
      )}
    </>
  );
}

function Items({ form, path, value }: PartProps) {
  const items = Array.isArray(value) ? value : [];
  const next = [...path, items.length];
  return (
    <>
      {items.map((item, index) => (
        // An item is known by its position.
        <Field key={index} form={form} path={[...path, index]} value={item} required={false} />
      ))}
      {!form.disabled && items.length < maxMembers && (
        <div class="row">
          <Add
            label={t('addItemTo', { field: pathText(path) })}
            onAdd={() => form.change(next, emptyValue(form.schema, next))}
          />
        </div>
      )}
    </>
  );
}

interface AddProps {
  readonly label: string;
  readonly disabled?: boolean;
  readonly onAdd: () => void;
}

const Add = ({ label, disabled = false, onAdd }: AddProps) => (
  <button type="button" aria-label={label} disabled={disabled} onClick={onAdd}>
    {t('add')}
  </button>
);

const Remove = ({ form, path }: { readonly form: Form; readonly path: FieldPath }) =>
  form.disabled ? null : (
    <button
      type="button"
      class="quiet"
      aria-label={t('removeField', { field: pathText(path) })}
      onClick={() => form.change(path, undefined)}
    >
      ✕
    </button>
  );

/** The panel of the field has the whole description. */
const Hint = ({ id, schema }: { readonly id: string; readonly schema: Schema }) => (
  <small id={id} class="dim">
    {firstSentence(descriptionOf(schema))}
  </small>
);

/** The name of a field; for an item of a list its own name or its position. */
function nameOf(path: FieldPath, value: Json | undefined): string {
  const part = path.at(-1) ?? '';
  if (typeof part === 'string') return part;
  const name = isJsonObject(value) ? value['name'] : undefined;
  return typeof name === 'string' && name !== '' ? name : pathText(path.slice(-2));
}

const memberOf = (members: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(members, name) ? members[name] : undefined;

/** The value of a new item: an empty text, or an example. */
function emptyValue(schema: KindSchema, path: FieldPath): Json {
  return controlOf(schema.at(path), undefined, path.length) === 'text' ? '' : exampleValue(schema, path);
}
