import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Clock } from '../../meta/index.ts';
import type { ApiResponse } from '../types.ts';

/** Longer bodies are not joined with their heads (bytes). */
const maxJoinedBytes = 64 * 1024;

/** The name and the value of a header field (RFC 9110, 5.1 and 5.5). */
const nameForm = /^[\w!#$%&'*+.^`|~-]+$/;
const valueForm = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Fields that Node must know of. */
const nodeFields = ['connection', 'content-length', 'date', 'transfer-encoding'];

/** A field with its last value, and their line: most have few values. An empty line: Node must send it. */
interface Field {
  /** Whether this name can be sent. */
  readonly isPlain: boolean;
  value: string;
  line: string;
}

const fields = new Map<string, Field>();
/** Responses as strings have the names of this server; others come from servers that it relays to. */
const maxFields = 64;

/** The line of a header field. Empty: Node must send it. */
function lineOf(name: string, value: string): string {
  let field = fields.get(name);
  if (field?.value === value) return field.line;
  if (field === undefined) {
    field = { isPlain: !nodeFields.includes(name) && nameForm.test(name), value: '', line: '' };
    if (fields.size < maxFields) fields.set(name, field);
  }
  field.value = value;
  field.line = field.isPlain && valueForm.test(value) ? `${name}: ${value}\r\n` : '';
  return field.line;
}

/**
 * Sends a response of HTTP/1.1 as one string. Node's response gives the connection a piece for the head and the body and
 * one for its end, which TLS copies into one buffer. Returns false for a response that Node must send: one that is streamed
 * or long, waits for others on its connection, ends the connection, or has fields that are no simple texts.
 */
export function writeAtOnce({ status, headers, body }: ApiResponse, out: ServerResponse, clock: Clock): boolean {
  const { socket, req } = out;
  if (typeof body !== 'string' || body.length > maxJoinedBytes || status === 204 || status === 304) return false;
  if (req.method === 'HEAD' || req.httpVersionMinor !== 1 || !out.shouldKeepAlive) return false;
  if (socket?.writable !== true || out.writableLength !== socket.writableLength) return false;
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
  for (const name in headers) {
    const value = headers[name];
    const line = typeof value === 'string' ? lineOf(name, value) : '';
    if (line === '') return false;
    head += line;
  }
  const text = `${head}content-length: ${body.length}\r\nDate: ${dateOf(clock.now())}\r\n\r\n${body}`;
  out.statusCode = status;
  // The state in which Node's `end` leaves a response: nothing more can be written, and it finishes once all is written.
  Object.assign(out, { finished: true });
  socket.write(text, 'latin1', (error) => {
    if (error == null) out.emit('finish');
  });
  return true;
}

let second = 0;
let date = '';

/** The date of a moment (ms since 1970) as HTTP writes it (RFC 9110, 5.6.7). */
function dateOf(now: number): string {
  const current = Math.floor(now / 1000);
  if (current !== second) {
    second = current;
    date = new Date(now).toUTCString();
  }
  return date;
}
