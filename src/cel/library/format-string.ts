/** `"...".format([...])`: a template with clauses such as `%s`, `%d`, `%.2f`. */
import { typeNameOf } from '../evaluate/type-values.ts';
import { CelError, type ListValue, Uint, type Value } from '../values.ts';

/** How a version of the language writes values. */
export interface FormatStyle {
  /** `%s`. @throws CelError when the text becomes longer than `most` */
  readonly text: (value: Value, most: number) => string;
  /** `%d` */
  readonly decimal: (value: Value) => string;
  /** `%f` */
  readonly fixed: (value: Value, precision: number) => string;
  /** `%e` */
  readonly scientific: (value: Value, precision: number) => string;
}

const MAX_PRECISION = 100;
const DEFAULT_PRECISION = 6;

/** @throws CelError when a clause and its argument do not match, and when the text is longer than `most` */
export function formatString(template: string, args: ListValue, style: FormatStyle, most: number): string {
  let text = '';
  let used = 0;
  let from = 0;
  for (let at = template.indexOf('%'); at >= 0; at = template.indexOf('%', from)) {
    text += template.slice(from, at);
    if (template[at + 1] === '%') {
      text += '%';
      from = at + 2;
      continue;
    }
    if (used >= args.size) throw new CelError(`index ${used} out of range`);
    if (at + 1 >= template.length) throw new CelError('unexpected end of string');
    const clause = readClause(template, at + 1);
    text += formatted(clause, args.get(used++), style, most - text.length);
    if (text.length > most) throw new CelError(`the result is longer than ${most} characters`);
    from = clause.end;
  }
  return text + template.slice(from);
}

interface Clause {
  readonly letter: string;
  readonly precision: number;
  readonly end: number;
}

function readClause(template: string, start: number): Clause {
  const cannot = (reason: string) => new CelError(`could not parse formatting clause: ${reason}`);
  const precise = (reason: string) => cannot(`error while parsing precision: ${reason}`);
  let end = start;
  let precision = DEFAULT_PRECISION;
  if (template[start] === '.') {
    end++;
    while (/[0-9]/.test(template[end] ?? '')) end++;
    if (end >= template.length) throw precise('could not find end of precision specifier');
    const digits = template.slice(start + 1, end);
    if (digits === '') {
      throw precise('error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax');
    }
    precision = Number(digits);
    if (precision > MAX_PRECISION) {
      throw precise(`precision ${digits} exceeds maximum allowed precision ${MAX_PRECISION}`);
    }
  }
  const letter = String.fromCodePoint(template.codePointAt(end) ?? 0);
  if (!'sdfebxXo'.includes(letter)) throw cannot(`unrecognized formatting clause "${letter}"`);
  return { letter, precision, end: end + letter.length };
}

function formatted({ letter, precision }: Clause, value: Value, style: FormatStyle, most: number): string {
  switch (letter) {
    case 's':
      return style.text(value, most);
    case 'd':
      return style.decimal(value);
    case 'f':
      return style.fixed(value, precision);
    case 'e':
      return style.scientific(value, precision);
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return inBase(value, 2) ?? mismatch('only integers and bools can be formatted as binary', value);
    case 'o':
      return inBase(value, 8) ?? mismatch('octal clause can only be used on integers', value);
    default: {
      const text = inBase(value, 16) ?? hexOfBytes(value);
      return letter === 'X' ? text.toUpperCase() : text;
    }
  }
}

/** An integer in a base; undefined for other values. */
export function inBase(value: Value, base: number): string | undefined {
  if (value instanceof Uint) return value.value.toString(base);
  return typeof value === 'number' || typeof value === 'bigint' ? value.toString(base) : undefined;
}

function hexOfBytes(value: Value): string {
  if (typeof value === 'string' || value instanceof Uint8Array) return Buffer.from(value as string).toString('hex');
  return mismatch('only integers, byte buffers, and strings can be formatted as hex', value);
}

/** @throws CelError */
export function mismatch(rule: string, value: Value): never {
  throw new CelError(`error during formatting: ${rule}, was given ${typeNameOf(value)}`);
}
