import { atOnce, type Json, type JsonObject, type Steps, sortedTexts } from '../meta/index.ts';
import { isWord, needsQuotes } from './yaml-scalar.ts';

/** How many pieces of text one step writes: about a millisecond. */
const STEP_PIECES = 4_000;
/** More keys are sorted in steps. */
const STEP_KEYS = 1_000;
/** The longest key that is written without the indicator `?`. */
const MAX_SIMPLE_KEY = 128;

/**
 * The YAML text of a value: keys in natural order, two spaces of indentation, lists not indented below their key,
 * strings quoted where a plain scalar would be another value. Ends with a line feed.
 */
export const stringifyYaml = (value: Json): string => atOnce(stringifyYamlInSteps(value));

/** As {@link stringifyYaml}, in steps that each write a part of the text. */
export function* stringifyYamlInSteps(value: Json): Steps<string> {
  const out: string[] = [];
  /** The texts of the steps. */
  const written: string[] = [];
  if (isScalar(value)) writeScalar(value, '', out);
  else yield* writeNode(value, '', '', out, written);
  written.push(out.join(''));
  return `${written.join('').replace(/^ /, '')}\n`;
}

type Scalar = Exclude<Json, JsonObject | Json[]>;

const isScalar = (value: Json): value is Scalar => typeof value !== 'object' || value === null;

function writeScalar(value: Scalar, indent: string, out: string[]): void {
  out.push(' ', typeof value === 'string' ? writeText(value, indent) : String(value));
}

/** Whether a step ends here; its pieces of text are then joined. */
function isDue(written: string[], out: string[]): boolean {
  if (out.length < STEP_PIECES) return false;
  written.push(out.join(''));
  out.length = 0;
  return true;
}

/** Writes a list or map after `key:`, `-` or nothing. `lead` comes before its first line. */
function* writeNode(
  value: JsonObject | Json[],
  indent: string,
  lead: string,
  out: string[],
  written: string[],
): Steps<void> {
  if (Array.isArray(value)) {
    if (value.length === 0) out.push(' []');
    let before = lead;
    for (const item of value) {
      if (isDue(written, out)) yield;
      // The first line of a nested map or list follows the hyphen.
      out.push(before, '-');
      if (isScalar(item)) writeScalar(item, `${indent}  `, out);
      else yield* writeNode(item, `${indent}  `, ' ', out, written);
      before = `\n${indent}`;
    }
    return;
  }
  const unsortedKeys = Object.keys(value);
  const keys =
    unsortedKeys.length <= STEP_KEYS ? unsortedKeys.sort(compareKeys) : yield* sortedTexts(unsortedKeys, compareKeys);
  if (keys.length === 0) out.push(' {}');
  let before = lead;
  for (const key of keys) {
    if (isDue(written, out)) yield;
    out.push(before, nameOf(key, indent));
    const item = value[key] as Json;
    // A list is not indented below its key; other values are.
    const inner = Array.isArray(item) ? indent : `${indent}  `;
    if (isScalar(item)) writeScalar(item, inner, out);
    else yield* writeNode(item, inner, `\n${inner}`, out, written);
    before = `\n${indent}`;
  }
}

function nameOf(key: string, indent: string): string {
  const name = key.includes('\n') ? quote(key) : writeText(key, indent);
  return name.length > MAX_SIMPLE_KEY ? `? ${name}\n${indent}:` : `${name}:`;
}

/** Characters that must be escaped. */
const SPECIAL = /(?![\t\n])\p{Cc}|[\u2028\u2029\ufeff\ufffe\uffff\u{10000}-\u{10ffff}]|\p{Surrogate}/u;
/** Texts that are not plain scalars. */
const INDICATORS = /^[\s,[\]{}#&*!|>'"%@`]|^[-?:](?:\s|$)|^(?:---|\.\.\.)|:(?:\s|$)| #|\s$/;

/** Texts that are plain scalars, unless they are booleans, null or numbers: most texts. */
const PLAIN = /^[A-Za-z](?:[-A-Za-z0-9_./]|:(?=[-A-Za-z0-9_./]))*$/;

function writeText(text: string, indent: string): string {
  if (PLAIN.test(text) && !isWord(text)) return text;
  if (SPECIAL.test(text)) return quote(text);
  if (text.includes('\n')) return / \n| $/.test(text) ? quote(text) : writeBlock(text, indent);
  if (needsQuotes(text)) return quote(text);
  if (text.includes('\t')) return quote(text);
  return INDICATORS.test(text) || text.startsWith('?') || text.startsWith(':')
    ? `'${text.replaceAll("'", "''")}'`
    : text;
}

function quote(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff\u{10000}-\u{10ffff}]/gu, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.toUpperCase().padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}

/** A literal block scalar, with the chomping indicator for its final line feeds. */
function writeBlock(text: string, indent: string): string {
  const end = !text.endsWith('\n') ? '-' : /^\n*$|\n\n$/.test(text) ? '+' : '';
  // A first line that starts with a space needs an indentation indicator.
  const depth = /^[ \n]/.test(text) ? '2' : '';
  const deep = indent === '' ? '  ' : indent;
  const body = text.endsWith('\n') ? text.slice(0, -1) : text;
  const lines = body.split('\n').map((line) => (line === '' ? '' : deep + line));
  return `|${depth}${end}\n${lines.join('\n')}`;
}

/** Natural order: digits compare by their numeric value, letters come after all other characters. */
function compareKeys(a: string, b: string): number {
  let i = 0;
  while (i < a.length && i < b.length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  if (i === a.length || i === b.length) return a.length - b.length;
  const xIsLetter = isLetter(a, i);
  if (xIsLetter !== isLetter(b, i)) return xIsLetter ? 1 : -1;
  if (!xIsLetter) {
    const [m, n] = [digitsAt(a, i), digitsAt(b, i)];
    if (m !== '' && n !== '' && m.length !== n.length) return Number(m) - Number(n) || m.length - n.length;
  }
  return a.charCodeAt(i) < b.charCodeAt(i) ? -1 : 1;
}

function isLetter(text: string, i: number): boolean {
  const code = text.charCodeAt(i);
  return code < 0x80 ? (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a : /\p{L}/u.test(text.charAt(i));
}

function digitsAt(text: string, i: number): string {
  let end = i;
  while (text.charCodeAt(end) >= 0x30 && text.charCodeAt(end) <= 0x39) end++;
  return text.slice(i, end);
}
