/** `"...".format([...])`: a template with clauses such as `%s`, `%d`, `%.2f`. */
import type { Steps } from '../../meta/index.ts';
import type { Expr } from '../ast.ts';
import { runtimeTypeName, typeNameOf } from '../evaluate/type-values.ts';
import type { Overload } from '../library.ts';
import type { CelType } from '../types.ts';
import { CelError, type ListValue, Uint, type Value } from '../values.ts';

/** How a version of the language writes values. */
export interface FormatStyle {
  /** `%s`. @throws CelError when the text becomes longer than `most` */
  readonly text: (value: Value, most: number) => Steps<string>;
  /** `%d` */
  readonly decimal: (value: Value) => string;
  /** `%f` */
  readonly fixed: (value: Value, precision: number) => string;
  /** `%e` */
  readonly scientific: (value: Value, precision: number) => string;
  /** The kinds of types that `d`, `f` and `e` take. */
  readonly kinds: { readonly [letter: string]: Kinds };
}

const MAX_PRECISION = 100;
const DEFAULT_PRECISION = 6;

/** @throws CelError when a clause and its argument do not match, and when the text is longer than `most` */
export function* formatString(template: string, args: ListValue, style: FormatStyle, most: number): Steps<string> {
  const parts: string[] = [];
  let left = most;
  for (const part of partsOf(template, args.size)) {
    if (parts.length % writtenPerStep === writtenPerStep - 1) yield;
    if (typeof part === 'string') parts.push(part);
    else {
      const { clause, index } = part;
      const value = args.get(index);
      const text = clause.letter === 's' ? yield* style.text(value, left) : formatClause(clause, value, style);
      left -= text.length;
      if (left < 0) throw new CelError(`the result is longer than ${most} characters`);
      parts.push(text);
    }
  }
  return parts.join('');
}

/** How many parts of a template are written in one step. */
const writtenPerStep = 500;

/** Returns the issues of a call of `format` with a literal template and a literal list of arguments. */
export const formatIssues =
  (style: FormatStyle): NonNullable<Overload['validate']> =>
  (call, typeOf) => {
    const [list] = call.args;
    const template = call.target?.kind === 'literal' ? call.target.value : undefined;
    if (template?.type !== 'string' || list?.kind !== 'list') return [];
    const { elements } = list;
    let used = 0;
    let { offset } = call;
    try {
      for (const part of partsOf(template.value, elements.length)) {
        if (typeof part === 'string') continue;
        const element = elements[part.index] as Expr;
        ({ offset } = element);
        checkElement(part.clause.letter, element, style, typeOf);
        ({ offset } = call);
        used = part.index + 1;
      }
    } catch (thrown) {
      if (!(thrown instanceof CelError)) throw thrown;
      return [{ offset, message: thrown.message }];
    }
    if (used === elements.length) return [];
    const counts = `(expected ${used}, got ${elements.length})`;
    return [{ offset, message: `too many arguments supplied to string.format ${counts}` }];
  };

/** @throws CelError when no value of the type of an argument, or of what a literal consists of, fits its clause */
function checkElement(letter: string, element: Expr, style: FormatStyle, typeOf: (expr: Expr) => CelType): void {
  const type = typeOf(element);
  const { kind } = type.kind === 'nullable' ? type.of : type;
  const kinds = style.kinds[letter] ?? kindsOf[letter];
  if (kind !== 'dyn' && kinds?.includes(kind) !== true) throw mismatch(letter, runtimeTypeName(type));
  if (letter !== 's') return;
  const check = (inner: Expr) => checkElement(letter, inner, style, typeOf);
  if (element.kind === 'list') element.elements.forEach(check);
  if (element.kind === 'map') {
    for (const { key, value } of element.entries) {
      check(key);
      check(value);
    }
  }
}

/** The texts and clauses of a template, each clause with the index of its argument. */
function* partsOf(template: string, size: number): Iterable<string | { clause: Clause; index: number }> {
  let used = 0;
  let from = 0;
  for (let at = template.indexOf('%'); at >= 0; at = template.indexOf('%', from)) {
    yield template.slice(from, at);
    if (template[at + 1] === '%') {
      yield '%';
      from = at + 2;
      continue;
    }
    if (used >= size) throw new CelError(`index ${used} out of range`);
    if (at + 1 >= template.length) throw new CelError('unexpected end of string');
    const clause = readClause(template, at + 1);
    yield { clause, index: used++ };
    from = clause.end;
  }
  yield template.slice(from);
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

function formatClause({ letter, precision }: Clause, value: Value, style: FormatStyle): string {
  switch (letter) {
    case 'd':
      return style.decimal(value);
    case 'f':
      return style.fixed(value, precision);
    case 'e':
      return style.scientific(value, precision);
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return inBase(value, 2) ?? unfit(letter, value);
    case 'o':
      return inBase(value, 8) ?? unfit(letter, value);
    default: {
      const text = inBase(value, 16) ?? hexOfBytes(value) ?? unfit(letter, value);
      return letter === 'X' ? text.toUpperCase() : text;
    }
  }
}

/** An integer in a base; undefined for other values. */
export function inBase(value: Value, base: number): string | undefined {
  if (value instanceof Uint) return value.value.toString(base);
  return typeof value === 'number' || typeof value === 'bigint' ? value.toString(base) : undefined;
}

function hexOfBytes(value: Value): string | undefined {
  const isBytes = typeof value === 'string' || value instanceof Uint8Array;
  return isBytes ? Buffer.from(value as string).toString('hex') : undefined;
}

/** The kinds of values that each clause accepts. */
const rules: { readonly [letter: string]: string } = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  o: 'octal clause can only be used on integers',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
};

type Kinds = readonly CelType['kind'][];

/** The kinds of types that clauses take in every style. */
const kindsOf: { readonly [letter: string]: Kinds } = {
  s: [
    'list',
    'map',
    'object',
    'int',
    'uint',
    'double',
    'bool',
    'string',
    'timestamp',
    'bytes',
    'duration',
    'type',
    'null',
  ],
  b: ['int', 'uint', 'bool'],
  o: ['int', 'uint'],
  x: ['int', 'uint', 'string', 'bytes'],
  X: ['int', 'uint', 'string', 'bytes'],
};

const mismatch = (letter: string, type: string): CelError =>
  new CelError(`error during formatting: ${rules[letter.toLowerCase()] ?? ''}, was given ${type}`);

/** @throws CelError */
export function unfit(letter: string, value: Value): never {
  throw mismatch(letter, typeNameOf(value));
}
