import { exactNumber, type Json } from '../meta/index.ts';

type Words = ReadonlyMap<string, null | boolean>;

/** Plain scalars that are booleans or null in YAML 1.2. */
const CORE_WORDS: Words = new Map([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
]);

/** Plain scalars that are booleans or null in YAML 1.1. */
const WORDS: Words = new Map([
  ...CORE_WORDS,
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
]);

/** Whether a text is a boolean or null in YAML 1.1. */
export const isWord = (text: string): boolean => WORDS.has(text);

const INTEGER = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const NO_NUMBER = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const TIMESTAMP = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ][0-9:.]+ ?(?:Z|[-+][0-9:]+)?)?$/;

/**
 * The value of a plain scalar: null, a boolean or a number as in YAML 1.1, otherwise its text. Timestamps and
 * sexagesimal numbers are text; so are infinity and NaN, which JSON does not have.
 */
export const resolvePlain = (text: string): Json => resolve(text, WORDS);

/** The same, where only `true` and `false` are booleans, as in YAML 1.2. */
export const resolveCorePlain = (text: string): Json => resolve(text, CORE_WORDS);

function resolve(text: string, words: Words): Json {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (!/^[-+.0-9]/.test(text)) return text;
  const digits = text.replaceAll('_', '');
  const whole = INTEGER.exec(digits);
  if (whole !== null) return readInteger(whole) ?? text;
  if (/^\./.test(text) ? FLOAT.test(text) : FLOAT.test(digits)) {
    return exactNumber(digits, /^[-+]?[0-9]+$/.test(digits));
  }
  return text;
}

/** Undefined for an integer of base 2, 8 or 16 that exceeds 64 bits, which is text. */
function readInteger([, sign = '', hex, binary, octal, decimal]: RegExpExecArray): number | bigint | undefined {
  if (decimal !== undefined) return exactNumber(sign === '-' ? `-${decimal}` : decimal, true);
  const [prefix, digits = ''] = hex !== undefined ? ['0x', hex] : binary !== undefined ? ['0b', binary] : ['0o', octal];
  const significant = digits.replace(/^0+/, '') || '0';
  if (significant.length > 64) return undefined;
  const size = BigInt(prefix + significant);
  return size < 2n ** 64n ? exactNumber(`${sign === '-' ? '-' : ''}${size}`, true) : undefined;
}

/** Whether some YAML reader takes the text, written as a plain scalar, for another value. */
export function needsQuotes(text: string): boolean {
  return (
    typeof resolvePlain(text) !== 'string' ||
    text === '<<' ||
    text === '=' ||
    NO_NUMBER.test(text) ||
    BASE_60.test(text) ||
    TIMESTAMP.test(text)
  );
}
