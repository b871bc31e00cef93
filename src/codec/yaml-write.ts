import type { Json } from '../meta/index.ts';
import { needsQuotes } from './yaml-scalar.ts';

/** Longest key that stands before its colon on one line without a mark. */
const MAX_SIMPLE_KEY = 128;

/**
 * The YAML text of a value: keys in natural order, two spaces for a level, lists not indented below their key, text in
 * quotes where it would read as something else. Ends with a line feed.
 */
export function stringifyYaml(value: Json): string {
  const out: string[] = [];
  writeNode(value, '', '', out);
  return `${out.join('').replace(/^ /, '')}\n`;
}

/** Writes a value after `key:`, `-` or nothing. `lead` stands before the first line of a map or list. */
function writeNode(value: Json, indent: string, lead: string, out: string[]): void {
  if (typeof value === 'string') {
    out.push(' ', writeText(value, indent));
  } else if (typeof value !== 'object' || value === null) {
    out.push(' ', String(value));
  } else if (Array.isArray(value)) {
    if (value.length === 0) out.push(' []');
    value.forEach((item, i) => {
      // The first line of an item's map or list goes on after its hyphen.
      out.push(i === 0 ? lead : `\n${indent}`, '-');
      writeNode(item, `${indent}  `, ' ', out);
    });
  } else {
    const keys = Object.keys(value).sort(compareKeys);
    if (keys.length === 0) out.push(' {}');
    keys.forEach((key, i) => {
      out.push(i === 0 ? lead : `\n${indent}`);
      writePair(key, value[key] as Json, indent, out);
    });
  }
}

function writePair(key: string, value: Json, indent: string, out: string[]): void {
  const name = key.includes('\n') ? quote(key) : writeText(key, indent);
  out.push(name.length > MAX_SIMPLE_KEY ? `? ${name}\n${indent}:` : `${name}:`);
  // A list stands under its key, everything else one level deeper.
  const inner = Array.isArray(value) ? indent : `${indent}  `;
  writeNode(value, inner, `\n${inner}`, out);
}

/** Characters that can only be written as escapes. */
const SPECIAL = /(?![\t\n])\p{Cc}|[\u2028\u2029\ufeff\ufffe\uffff]|\p{Surrogate}/u;
/** What may not stand without quotes, whatever it would read as. */
const INDICATORS = /^[\s,[\]{}#&*!|>'"%@`]|^[-?:](?:\s|$)|^(?:---|\.\.\.)|:(?:\s|$)| #|\s$/;

function writeText(text: string, indent: string): string {
  if (SPECIAL.test(text)) return quote(text);
  if (text.includes('\n')) return / \n| $/.test(text) ? quote(text) : writeBlock(text, indent);
  if (needsQuotes(text)) return quote(text);
  if (text.includes('\t')) return quote(text);
  return INDICATORS.test(text) || text.startsWith('?') || text.startsWith(':')
    ? `'${text.replaceAll("'", "''")}'`
    : text;
}

function quote(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A literal block: lines as they are, and a mark that tells what is at the end. */
function writeBlock(text: string, indent: string): string {
  const end = !text.endsWith('\n') ? '-' : /^\n*$|\n\n$/.test(text) ? '+' : '';
  // The first line must show the depth of the block, or the mark does.
  const depth = /^[ \n]/.test(text) ? '2' : '';
  const deep = indent === '' ? '  ' : indent;
  const body = text.endsWith('\n') ? text.slice(0, -1) : text;
  const lines = body.split('\n').map((line) => (line === '' ? '' : deep + line));
  return `|${depth}${end}\n${lines.join('\n')}`;
}

/** Natural order: numbers inside by their value, letters after everything else. */
function compareKeys(a: string, b: string): number {
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) i++;
  const [x, y] = [a.charAt(i), b.charAt(i)];
  if (x === '' || y === '') return a.length - b.length;
  const [xIsLetter, yIsLetter] = [/\p{L}/u.test(x), /\p{L}/u.test(y)];
  if (xIsLetter !== yIsLetter) return xIsLetter ? 1 : -1;
  if (!xIsLetter) {
    const [m = '', n = ''] = [a, b].map((text) => /^[0-9]*/.exec(text.slice(i))?.[0]);
    if (m !== '' && n !== '' && m.length !== n.length) return Number(m) - Number(n) || m.length - n.length;
  }
  return x < y ? -1 : 1;
}
