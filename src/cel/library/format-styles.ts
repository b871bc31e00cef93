/** The two ways in which `format` writes values. */

import { Pace, quote, type Steps, sortedInSteps } from '../../meta/index.ts';
import { compareValues } from '../evaluate/equality.ts';
import {
  CelError,
  Double,
  Duration,
  ListValue,
  MapValue,
  ObjectValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../values.ts';
import { type FormatStyle, inBase, unfit } from './format-string.ts';
import { decimalText, fixedText, scientificText, shortText } from './numbers.ts';
import { formatSeconds, formatTimestamp } from './times.ts';

/** The texts of leaves; undefined for other values. */
type Leaf = (value: Value) => string | undefined;

/** Writes lists and maps with their leaves. */
class Writer {
  readonly #leaf: Leaf;
  readonly #colon: string;
  readonly #pace = new Pace();
  #left: number;

  constructor(leaf: Leaf, colon: string, most: number) {
    this.#leaf = leaf;
    this.#colon = colon;
    this.#left = most;
  }

  *write(value: Value): Steps<string> {
    const text = this.#leafText(value);
    if (text !== undefined) return text;
    if (value instanceof ListValue) {
      const parts: string[] = [];
      for (let i = 0; i < value.size; i++) {
        const element = value.get(i);
        parts.push(this.#leafText(element) ?? (yield* this.write(element)));
        if (this.#pace.over()) yield;
      }
      return `[${parts.join(this.#counted(', '))}]`;
    }
    if (value instanceof MapValue) return yield* this.#map(value.keys(), (key) => value.get(key));
    if (value instanceof ObjectValue) {
      return yield* this.#map(value.type.identifiers(), (identifier) => value.get(identifier as string));
    }
    return unfit('s', value);
  }

  *#map(keys: Iterable<Value>, get: (key: Value) => Value | undefined): Steps<string> {
    const parts: (readonly [key: string, value: string])[] = [];
    for (const key of keys) {
      const value = get(key);
      if (value === undefined) continue;
      const name = this.#leafText(key) ?? (yield* this.write(key));
      parts.push([name, this.#leafText(value) ?? (yield* this.write(value))]);
      if (this.#pace.over()) yield;
    }
    const sorted = yield* sortedInSteps(parts, ([a], [b]) => compareValues(a, b));
    return `{${sorted.map((part) => part.join(this.#colon)).join(', ')}}`;
  }

  #leafText(value: Value): string | undefined {
    const text = this.#leaf(value);
    return text === undefined ? undefined : this.#counted(text);
  }

  /** Separators count once for each element that they follow: every element takes at least a character more. */
  #counted(text: string): string {
    this.#left -= text.length + 4;
    if (this.#left < 0) throw new CelError('the result is too long');
    return text;
  }
}

const asText = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();

function isCollection(value: Value): boolean {
  return value instanceof ListValue || value instanceof MapValue || value instanceof ObjectValue;
}

/** The texts of values that all styles share. */
function plainLeaf(value: Value): string | undefined {
  if (value === null) return 'null';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return `${value}`;
  if (value instanceof Uint8Array) return asText(value);
  if (value instanceof Duration) return formatSeconds(value);
  if (value instanceof TypeValue) return value.name;
  return inBase(value, 10);
}

/** By the specification of the language: nothing is quoted. */
const specifiedLeaf: Leaf = (value) => {
  if (value instanceof Double) return Number.isFinite(value.value) ? decimalText(value.value) : `${value.value}`;
  if (value instanceof Timestamp) return formatTimestamp(new Timestamp(value.seconds, value.nanos));
  return plainLeaf(value);
};

const numberOf = (value: Value): number | undefined => {
  if (value instanceof Double) return value.value;
  if (value instanceof Uint || typeof value === 'bigint') return Number(value instanceof Uint ? value.value : value);
  return typeof value === 'number' ? value : undefined;
};

const finite = (value: number, write: (value: number) => string): string =>
  Number.isFinite(value) ? write(value) : `${value}`;

const numeric = ['int', 'uint', 'double'] as const;

/** By the specification of the language. */
export const plainStyle: FormatStyle = {
  kinds: { d: numeric, f: numeric, e: numeric },
  text: (value, most) => new Writer(specifiedLeaf, ': ', most).write(value),
  decimal: (value) => {
    const text = value instanceof Double ? specifiedLeaf(value) : inBase(value, 10);
    return text ?? unfit('d', value);
  },
  fixed: (value, precision) => {
    const number = numberOf(value);
    if (number === undefined) return unfit('f', value);
    return finite(number, (double) => fixedText(double, precision));
  },
  scientific: (value, precision) => {
    const number = numberOf(value);
    if (number === undefined) return unfit('e', value);
    return finite(number, (double) => scientificText(double, precision));
  },
};

/** A value by itself, as `string(value)` has it. */
const outerLeaf: Leaf = (value) => {
  if (value instanceof Double) return shortText(value.value);
  return value instanceof Timestamp ? formatTimestamp(value) : plainLeaf(value);
};

/** A value within a list or map, as a literal. */
const innerLeaf: Leaf = (value) => {
  if (typeof value === 'string') return quote(value);
  if (value instanceof Uint8Array) return `b${quote(asText(value))}`;
  if (value instanceof Timestamp) return `timestamp("${formatTimestamp(value)}")`;
  if (value instanceof Duration) return `duration("${formatSeconds(value)}")`;
  if (value instanceof Double) {
    return Number.isFinite(value.value) ? fixedText(value.value, 6) : `"${shortText(value.value)}"`;
  }
  return plainLeaf(value);
};

const unlimited = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

/** The number of a double, or of a text that names one that is not finite. */
function doubleOf(value: Value, letter: string): number {
  const number = value instanceof Double ? value.value : typeof value === 'string' ? unlimited.get(value) : undefined;
  return number ?? unfit(letter, value);
}

const localized = (value: number, write: (value: number) => string): string =>
  Number.isNaN(value) ? 'NaN' : Number.isFinite(value) ? write(value) : value > 0 ? '∞' : '-∞';

/** Groups of three digits before the decimal point. */
const grouped = (text: string): string => {
  const [whole = '', fraction] = text.split('.');
  const groups = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? groups : `${groups}.${fraction}`;
};

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** `1.5e+03` as `1.5 × 10⁰³`, with narrow no-break spaces. */
const raised = (text: string): string => {
  const [mantissa, exponent = ''] = text.split('e');
  const power = exponent
    .replace('+', '')
    .replace('-', '⁻')
    .replace(/\d/g, (digit) => superscripts[Number(digit)] ?? '');
  return `${mantissa}\u202f×\u202f10${power}`;
};

/** Values in lists and maps as literals, and doubles as people write them. */
export const quotedStyle: FormatStyle = {
  kinds: { d: ['int', 'uint'], f: ['double', 'string'], e: ['double', 'string'] },
  text: (value, most) =>
    (isCollection(value) ? new Writer(innerLeaf, ':', most) : new Writer(outerLeaf, ':', most)).write(value),
  decimal: (value) => inBase(value, 10) ?? unfit('d', value),
  fixed: (value, precision) => localized(doubleOf(value, 'f'), (double) => grouped(fixedText(double, precision))),
  scientific: (value, precision) =>
    localized(doubleOf(value, 'e'), (double) => raised(scientificText(double, precision))),
};
