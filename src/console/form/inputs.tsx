/** The inputs of fields that have one value. */
import { useState } from 'preact/hooks';
import type { Json } from '../../meta/index.ts';
import { readValue, valueText } from '../edit/yaml.ts';
import type { Schema } from '../object/schema.ts';
import { t } from '../texts.ts';
import { readNumber } from './controls.ts';

export interface InputProps {
  /** The identifier of the element, which its label refers to. */
  readonly id: string;
  readonly schema: Schema;
  /** Undefined: the field is not set. */
  readonly value: Json | undefined;
  readonly disabled: boolean;
  /** Whether a text may have several lines. */
  readonly multiline?: boolean;
  readonly onChange: (value: Json) => void;
}

/** The text of a scalar. Empty for other values, and for none. */
const scalarText = (value: Json | undefined): string => (typeof value === 'object' ? '' : String(value ?? ''));

/** The identifier of the element that describes an input. */
export const hintOf = (id: string): string => `${id}-hint`;

export const Switch = ({ id, value, disabled, onChange }: InputProps) => (
  <input
    id={id}
    type="checkbox"
    aria-describedby={hintOf(id)}
    checked={value === true}
    disabled={disabled}
    onChange={({ currentTarget }) => onChange(currentTarget.checked)}
  />
);

export function Choice({ id, schema, value, disabled, onChange }: InputProps) {
  const choice = scalarText(value);
  const choices = new Set([choice, ...(schema['enum'] as readonly Json[]).map(scalarText)]);
  return (
    <select
      id={id}
      aria-describedby={hintOf(id)}
      value={choice}
      disabled={disabled}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    >
      {[...choices].map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}

/** Whether a text has several lines stays as it was when the input appeared, which keeps the focus. */
export function Text(props: InputProps) {
  const { value, multiline = false } = props;
  const [lines] = useState(multiline || (typeof value === 'string' && value.includes('\n')));
  return <Typed {...props} as={lines ? 'textarea' : 'text'} shown={scalarText(value)} read={(text) => text} />;
}

/** A text, or a number where the text is one. */
export const Mixed = (props: InputProps) => (
  <Typed
    {...props}
    as="text"
    shown={scalarText(props.value)}
    read={(text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text)}
  />
);

export const NumberInput = (props: InputProps) => (
  <Typed
    {...props}
    as="number"
    shown={scalarText(props.value)}
    read={(text) => {
      const number = readNumber(text, props.schema);
      if (number === undefined) throw new Error(t('notANumber'));
      return number;
    }}
  />
);

export const Yaml = (props: InputProps) => (
  <Typed {...props} as="textarea" shown={props.value === undefined ? '' : valueText(props.value)} read={readValue} />
);

interface TypedProps extends InputProps {
  readonly as: 'text' | 'number' | 'textarea';
  readonly shown: string;
  /** @throws Error that says why a text is not a value */
  readonly read: (text: string) => Json;
}

/** The most lines that an input shows at once. */
const maxRows = 12;

/** A typed value. A text that is not valid stays in the input, and the object keeps the value before. */
function Typed({ id, as, shown, read, disabled, onChange }: TypedProps) {
  const [typed, setTyped] = useState<string>();
  const [problem, setProblem] = useState('');
  const value = typed ?? shown;
  const type = (element: HTMLInputElement | HTMLTextAreaElement) => {
    let message = '';
    setTyped(element.value);
    try {
      onChange(read(element.value));
    } catch (why) {
      message = why instanceof Error ? why.message : String(why);
    }
    // The form is not valid while one of its elements says so.
    element.setCustomValidity(message);
    setProblem(message);
  };
  const attributes = {
    id,
    'aria-describedby': hintOf(id),
    'aria-invalid': problem !== '',
    spellcheck: false,
    value,
    disabled,
    onBlur: () => problem === '' && setTyped(undefined),
  };
  return (
    <>
      {as === 'textarea' ? (
        <textarea
          {...attributes}
          rows={Math.min(value.trimEnd().split('\n').length, maxRows)}
          onInput={({ currentTarget }) => type(currentTarget)}
        />
      ) : (
        <input
          {...attributes}
          type="text"
          inputMode={as === 'number' ? 'decimal' : 'text'}
          onInput={({ currentTarget }) => type(currentTarget)}
        />
      )}
      {problem !== '' && (
        <span class="problem" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}
