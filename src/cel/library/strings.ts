/** Functions of strings beyond the standard ones. All indexes are of code points. */
import { atOnce, type Steps } from '../../meta/index.ts';
import { codePoints } from '../evaluation-cache.ts';
import type { Library, Overload } from '../library.ts';
import { checkListSize, checkTextLength, maxListSize, maxTextLength } from '../result-limits.ts';
import { type CelType, dynType, intType, listType, stringType } from '../types.ts';
import { CelError, ListValue, type Value } from '../values.ts';
import { between, pointOf, unitOf } from './code-points.ts';
import { longCost } from './costs.ts';
import { type FormatStyle, formatIssues, formatString } from './format-string.ts';
import { plainStyle, quotedStyle } from './format-styles.ts';
import { indexNumber } from './integers.ts';
import { functionOf, methodOf } from './overloads.ts';
import {
  joinCosts,
  producing,
  quoteCosts,
  replaceCosts,
  searchCosts,
  splitCosts,
  transforming,
} from './string-costs.ts';
import { TextSearch } from './text-search.ts';

const outOfRange = (index: number) => new CelError(`index out of range: ${index}`);

function charAt(text: string, index: number): string {
  const size = codePoints(text);
  if (index < 0 || index > size) throw outOfRange(index);
  return index === size ? '' : between(text, index, index + 1);
}

function indexOf(text: string, part: string, offset = 0): number {
  if (part === '') return offset;
  if (offset < 0) throw outOfRange(offset);
  const found = offset >= text.length ? -1 : new TextSearch(part).firstIn(text, unitOf(text, offset));
  return found < 0 ? -1 : pointOf(text, found);
}

function lastIndexOf(text: string, part: string, offset?: number): number {
  const size = codePoints(text);
  if (part === '') return offset ?? size;
  if (offset !== undefined && offset < 0) throw outOfRange(offset);
  if (offset !== undefined && offset >= size) return -1;
  const found = new TextSearch(part).lastIn(text, offset === undefined ? text.length : unitOf(text, offset));
  return found < 0 ? -1 : pointOf(text, found);
}

function substring(text: string, start: number, end?: number): string {
  if (end !== undefined && start > end) throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  const size = codePoints(text);
  if (start < 0 || start > size) throw outOfRange(start);
  if (end === undefined) return text.slice(unitOf(text, start));
  if (end < 0 || end > size) throw outOfRange(end);
  return between(text, start, end);
}

/** How many parts are replaced in one step. */
const replacedPerStep = 10_000;

/** Negative: all of them. An empty part is before each code point and at the end. */
function* replace(text: string, part: string, by: string, most = -1): Steps<string> {
  const limit = most < 0 ? Number.POSITIVE_INFINITY : most;
  const search = new TextSearch(part);
  const done: string[] = [];
  let pieces: string[] = [];
  let from = 0;
  let count = 0;
  for (let at = search.firstIn(text); at >= 0 && count < limit; count++) {
    checkTextLength(text.length + (count + 1) * (by.length - part.length));
    pieces.push(text.slice(from, at), by);
    from = at + part.length;
    if (pieces.length >= 2 * replacedPerStep) {
      done.push(pieces.join(''));
      pieces = [];
      yield;
    }
    if (part !== '') at = search.firstIn(text, from);
    else at = at === text.length ? -1 : at + ((text.codePointAt(at) as number) > 0xffff ? 2 : 1);
  }
  if (count === 0) return text;
  pieces.push(text.slice(from));
  done.push(pieces.join(''));
  return done.join('');
}

/** Maximum number of parts, the last of which contains the rest; negative: unlimited. */
function split(text: string, separator: string, most = -1): ListValue {
  if (separator === '') checkListSize(codePoints(text));
  const parts = separator === '' ? Array.from(text) : new TextSearch(separator).split(text, maxListSize + 1);
  checkListSize(parts.length);
  if (most < 0 || parts.length <= most) return new ListValue(parts);
  if (most === 0) return new ListValue([]);
  return new ListValue([...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)]);
}

/** How many parts are joined in one step. */
const joinedPerStep = 5_000;

function* join(list: ListValue, separator: string): Steps<string> {
  const parts: string[] = [];
  let length = 0;
  for (let i = 0; i < list.size; i++) {
    const part = list.get(i);
    if (typeof part !== 'string') throw new CelError('join: invalid input: expected a string');
    length += part.length + separator.length;
    checkTextLength(length);
    if (parts.push(part) % joinedPerStep === 0) yield;
  }
  return parts.join(separator);
}

/** White space as Unicode has it: not U+FEFF. */
const space = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** The most frequent ones are recognised by their codes. */
const isSpace = (text: string, index: number): boolean => {
  const code = text.charCodeAt(index);
  return code < 0x80 ? code === 0x20 || (code >= 0x09 && code <= 0x0d) : space.test(text[index] as string);
};

function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text, start)) start++;
  while (end > start && isSpace(text, end - 1)) end--;
  return text.slice(start, end);
}

/** How many characters are changed in one step. */
const changedPerStep = 65_536;

/** The text with the letters of ASCII from `first` on replaced by those of the other case. */
function* otherCase(text: string, first: string): Steps<string> {
  const from = first.charCodeAt(0);
  const parts: string[] = [];
  for (let start = 0; start < text.length; start += changedPerStep) {
    const units = new Uint16Array(Math.min(changedPerStep, text.length - start));
    for (let i = 0; i < units.length; i++) {
      const unit = text.charCodeAt(start + i);
      units[i] = unit >= from && unit < from + 26 ? unit ^ 0x20 : unit;
    }
    parts.push(Buffer.from(units.buffer).toString('utf16le'));
    yield;
  }
  return parts.join('');
}

const escapes: { readonly [character: string]: string } = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

const special = new RegExp(
  `[${Object.keys(escapes)
    .map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')}]`,
  'g',
);

/** How many characters are quoted in one step. */
const quotedPerStep = 16_384;

/** In quotes, with halves of surrogate pairs replaced. */
function* quote(text: string): Steps<string> {
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + quotedPerStep, text.length);
    if ((text.codePointAt(end - 1) as number) > 0xffff) end++;
    const part = text.slice(start, end).replace(special, (character) => escapes[character] ?? '');
    parts.push(part.replace(/\p{Cs}/gu, '\ufffd'));
    start = end;
    yield;
  }
  return `"${parts.join('')}"`;
}

const method = <A extends readonly Value[]>(
  id: string,
  args: readonly CelType[],
  result: CelType,
  call: (...args: A) => Value,
  costs: Pick<Overload, 'cost' | 'estimate'> = {},
): Overload => methodOf(id, args, result, call as unknown as Overload['call'], costs);

/** A method whose calls run in steps. */
const longMethod = <A extends readonly Value[]>(
  id: string,
  args: readonly CelType[],
  result: CelType,
  run: (...args: A) => Steps<Value>,
  costs: Pick<Overload, 'cost' | 'estimate' | 'readsLists'>,
): Overload => {
  const steps = run as unknown as NonNullable<Overload['steps']>;
  return methodOf(id, args, result, (...values) => atOnce(steps(...values)), { ...costs, steps });
};

const string2 = [stringType, stringType] as const;
const strings = listType(stringType);
const joining = { ...joinCosts, readsLists: true };

const functions: Library['functions'] = {
  charAt: [
    method(
      'string_char_at_int',
      [stringType, intType],
      stringType,
      (text: string, index: Value) => charAt(text, indexNumber(index)),
      { cost: ([text]) => longCost((text as string).length) },
    ),
  ],
  indexOf: [
    method(
      'string_index_of_string',
      string2,
      intType,
      (text: string, part: string) => indexOf(text, part),
      searchCosts,
    ),
    method(
      'string_index_of_string_int',
      [...string2, intType],
      intType,
      (text: string, part: string, offset: Value) => indexOf(text, part, indexNumber(offset)),
      searchCosts,
    ),
  ],
  lastIndexOf: [
    method(
      'string_last_index_of_string',
      string2,
      intType,
      (text: string, part: string) => lastIndexOf(text, part),
      searchCosts,
    ),
    method(
      'string_last_index_of_string_int',
      [...string2, intType],
      intType,
      (text: string, part: string, offset: Value) => lastIndexOf(text, part, indexNumber(offset)),
      searchCosts,
    ),
  ],
  lowerAscii: [
    longMethod('string_lower_ascii', [stringType], stringType, (text: string) => otherCase(text, 'A'), transforming),
  ],
  upperAscii: [
    longMethod('string_upper_ascii', [stringType], stringType, (text: string) => otherCase(text, 'a'), transforming),
  ],
  replace: [
    longMethod(
      'string_replace_string_string',
      [...string2, stringType],
      stringType,
      (text: string, part: string, by: string) => replace(text, part, by),
      replaceCosts,
    ),
    longMethod(
      'string_replace_string_string_int',
      [...string2, stringType, intType],
      stringType,
      (text: string, part: string, by: string, most: Value) => replace(text, part, by, indexNumber(most)),
      replaceCosts,
    ),
  ],
  split: [
    method(
      'string_split_string',
      string2,
      strings,
      (text: string, separator: string) => split(text, separator),
      splitCosts,
    ),
    method(
      'string_split_string_int',
      [...string2, intType],
      strings,
      (text: string, separator: string, most: Value) => split(text, separator, indexNumber(most)),
      splitCosts,
    ),
  ],
  substring: [
    method(
      'string_substring_int',
      [stringType, intType],
      stringType,
      (text: string, start: Value) => substring(text, indexNumber(start)),
      transforming,
    ),
    method(
      'string_substring_int_int',
      [stringType, intType, intType],
      stringType,
      (text: string, start: Value, end: Value) => substring(text, indexNumber(start), indexNumber(end)),
      transforming,
    ),
  ],
  trim: [method('string_trim', [stringType], stringType, trim, transforming)],
  join: [
    longMethod('list_join', [strings], stringType, (list: ListValue) => join(list, ''), joining),
    longMethod('list_join_string', [strings, stringType], stringType, join, joining),
  ],
  'strings.quote': [
    functionOf('strings_quote', [stringType], stringType, (text) => atOnce(quote(text as string)), {
      ...quoteCosts,
      steps: (text) => quote(text as string),
    }),
  ],
};

const format = (style: FormatStyle): readonly Overload[] => {
  const run = (text: string, args: ListValue) => formatString(text, args, style, maxTextLength);
  const overload = longMethod('string_format', [stringType, listType(dynType)], stringType, run, producing);
  return [{ ...overload, validate: formatIssues(style) }];
};

/** Version 2: the functions of API rules. `%s` shows nested values quoted, and `%f` and `%e` numbers for people. */
export const stringsLibrary: Library = { name: 'strings', functions: { ...functions, format: format(quotedStyle) } };

/** Version 4 of the functions: with `reverse`, and `format` by the specification of the language. */
export const stringsLibrary4: Library = {
  name: 'strings4',
  functions: {
    ...functions,
    format: format(plainStyle),
    reverse: [
      method('string_reverse', [stringType], stringType, (text: string) => Array.from(text).reverse().join('')),
    ],
  },
};
