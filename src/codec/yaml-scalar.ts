import type { Json } from '../meta/index.ts';
import { exactNumber } from './json-exact.ts';

/** Plain words with a meaning of their own, as in YAML 1.1. */
const WORDS = new Map<string, null | boolean>([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
]);

/** Whether a text is a word with a meaning of its own. */
export const isWord = (text: string): boolean => WORDS.has(text);

const INTEGER = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const NO_NUMBER = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const TIMESTAMP = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ][0-9:.]+ ?(?:Z|[-+][0-9:]+)?)?$/;

/**
 * What a scalar without quotes means: null, a boolean or a number as in YAML 1.1, otherwise its text. Times and numbers
 * to the base of 60 are text; so are infinity and not-a-number, which JSON cannot say.
 */
export function resolvePlain(text: string): Json {
  const word = WORDS.get(text);
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

/** Undefined for one to another base than 10 that 64 bits do not hold: such a one is text. */
function readInteger([, sign = '', hex, binary, octal, decimal]: RegExpExecArray): number | bigint | undefined {
  if (decimal !== undefined) return exactNumber(sign === '-' ? `-${decimal}` : decimal, true);
  const [prefix, digits = ''] = hex !== undefined ? ['0x', hex] : binary !== undefined ? ['0b', binary] : ['0o', octal];
  const significant = digits.replace(/^0+/, '') || '0';
  if (significant.length > 64) return undefined;
  const size = BigInt(prefix + significant);
  return size < 2n ** 64n ? exactNumber(`${sign === '-' ? '-' : ''}${size}`, true) : undefined;
}

/** Whether a text that stands without quotes reads back as something else, to any reader. */
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
