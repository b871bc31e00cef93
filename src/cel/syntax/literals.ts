/** The values of literals as they are written. */
import { TextEncoder } from 'node:util';
import type { Expr } from '../ast.ts';
import type { Nodes } from './nodes.ts';
import { Token } from './tokens.ts';

/** The literal of a token of a kind, or an issue about it. */
export function literal(nodes: Nodes, offset: number, kind: number, text: string, negative: boolean): Expr {
  switch (kind) {
    case Token.true:
    case Token.false:
      return nodes.literal(offset, { type: 'bool', value: kind === Token.true });
    case Token.null:
      return nodes.literal(offset, { type: 'null' });
    case Token.int: {
      const value = intValue(text, negative);
      return value === undefined
        ? nodes.invalid(offset, 'invalid int literal')
        : nodes.literal(offset, { type: 'int', value });
    }
    case Token.uint: {
      const value = uintValue(text.slice(0, -1));
      return value === undefined
        ? nodes.invalid(offset, 'invalid uint literal')
        : nodes.literal(offset, { type: 'uint', value });
    }
    case Token.float: {
      const value = Number(text);
      if (!Number.isFinite(value)) return nodes.invalid(offset, 'invalid double literal');
      return nodes.literal(offset, { type: 'double', value: negative ? -value : value });
    }
    default:
      return quotedLiteral(nodes, offset, kind, text);
  }
}

function quotedLiteral(nodes: Nodes, offset: number, kind: number, text: string): Expr {
  try {
    if (kind === Token.string) return nodes.literal(offset, { type: 'string', value: stringValue(text) });
    return nodes.literal(offset, { type: 'bytes', value: bytesValue(text.slice(1)) });
  } catch (error) {
    if (error instanceof UnescapeError) return nodes.invalid(offset, error.message);
    throw error;
  }
}

const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;
const maxUint = 2n ** 64n - 1n;

/** The int of digits, decimal or after `0x`; undefined: it does not fit 64 bits. */
function intValue(digits: string, negative: boolean): bigint | undefined {
  const magnitude = readDigits(digits);
  if (magnitude === undefined) return undefined;
  const value = negative ? -magnitude : magnitude;
  return value >= minInt && value <= maxInt ? value : undefined;
}

/** The uint of digits before `u`; undefined: it does not fit 64 bits. */
function uintValue(digits: string): bigint | undefined {
  const value = readDigits(digits);
  return value !== undefined && value <= maxUint ? value : undefined;
}

function readDigits(digits: string): bigint | undefined {
  if (digits.length <= 20) return BigInt(digits);
  const hexadecimal = digits.startsWith('0x');
  let start = hexadecimal ? 2 : 0;
  while (start < digits.length - 1 && digits[start] === '0') start++;
  const significant = digits.slice(start);
  return significant.length <= 20 ? BigInt(hexadecimal ? `0x${significant}` : significant) : undefined;
}

/** A string that cannot be unescaped. */
class UnescapeError extends Error {}

/** The content of a quoted string, with line ends as `\n`. @throws UnescapeError */
function stringValue(quoted: string): string {
  const { text, raw } = content(quoted);
  if (raw || !text.includes('\\')) return text;
  let value = '';
  for (let index = 0; index < text.length; ) {
    const backslash = text.indexOf('\\', index);
    if (backslash === -1) return value + text.slice(index);
    value += text.slice(index, backslash);
    const length = escapeLength(text, backslash);
    const code = escapedCode(text, backslash, length);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new UnescapeError('invalid unicode code point');
    value += String.fromCodePoint(code);
    index = backslash + length;
  }
  return value;
}

const encoder = new TextEncoder();

/** The bytes of a quoted string: of its UTF-8 encoding, and of its escape sequences. @throws UnescapeError */
function bytesValue(quoted: string): Uint8Array {
  const { text, raw } = content(quoted);
  if (raw || !text.includes('\\')) return encoder.encode(text);
  const value = new Uint8Array(text.length * 3);
  let size = 0;
  for (let index = 0; index < text.length; ) {
    if (text[index] !== '\\') {
      const backslash = text.indexOf('\\', index);
      const end = backslash === -1 ? text.length : backslash;
      size += encoder.encodeInto(text.slice(index, end), value.subarray(size)).written;
      index = end;
      continue;
    }
    const kind = text[index + 1];
    if (kind === 'u' || kind === 'U') throw new UnescapeError('unable to unescape string');
    const length = escapeLength(text, index);
    value[size++] = escapedCode(text, index, length);
    index += length;
  }
  return value.slice(0, size);
}

/** Returns the text between the quotes. */
function content(quoted: string): { readonly text: string; readonly raw: boolean } {
  const raw = quoted[0] === 'r' || quoted[0] === 'R';
  const start = raw ? 1 : 0;
  const triple =
    quoted.length >= start + 6 && quoted[start] === quoted[start + 1] && quoted[start] === quoted[start + 2];
  const quotes = triple ? 3 : 1;
  const text = quoted.slice(start + quotes, quoted.length - quotes);
  return { text: text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text, raw };
}

/** How long an escape sequence is, with its backslash. The lexer has seen that it is one. */
function escapeLength(text: string, backslash: number): number {
  const kind = text[backslash + 1]!;
  if (kind === 'x' || kind === 'X') return 4;
  if (kind === 'u') return 6;
  if (kind === 'U') return 10;
  return kind >= '0' && kind <= '3' ? 4 : 2;
}

const simpleEscapes: { readonly [character: string]: number } = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 };

function escapedCode(text: string, backslash: number, length: number): number {
  if (length === 2) return simpleEscapes[text[backslash + 1]!] ?? text.charCodeAt(backslash + 1);
  const octal = text[backslash + 1]! <= '3';
  return Number.parseInt(text.slice(backslash + (octal ? 1 : 2), backslash + length), octal ? 8 : 16);
}
