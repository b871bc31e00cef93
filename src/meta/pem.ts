/** The text form of certificates, requests for them, and keys (RFC 7468). */

export interface PemBlock {
  /** Such as `CERTIFICATE`. */
  readonly type: string;
  /** Whether lines of `name: value` stand before the data (RFC 1421). */
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
  /** The block as it stands in the text, with the end of its last line. */
  readonly text: string;
}

/** The blocks of a text in their order. What stands around them is passed over, and so is what is not quite a block. */
export function pemBlocks(text: string): PemBlock[] {
  return [...blocksOf(text)].map(({ start, end, ...block }) => ({ ...block, text: text.slice(start, end) }));
}

/** The block of a text that holds nothing else but white space; undefined when there is more, or less. */
export function onlyPemBlock(text: string): PemBlock | undefined {
  const [block, ...more] = pemBlocks(text);
  return block !== undefined && more.length === 0 && text.trim() === block.text.trim() ? block : undefined;
}

/** Bytes as a block, which ends with a line break. */
export function formatPem(type: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${type}-----`, ...lines, `-----END ${type}-----`, ''].join('\n');
}

interface Found extends Omit<PemBlock, 'text'> {
  readonly start: number;
  readonly end: number;
}

/** Blocks begin and end with lines of their own. Goes through the text once, whatever it looks like. */
function* blocksOf(text: string): Generator<Found> {
  const begin = /(?<![^\n])-----BEGIN ([^\n]*)-----[ \t]*\r?(?=\n)/g;
  const endMark = '\n-----END ';
  let endAt = -1;
  for (let match = begin.exec(text); match !== null; match = begin.exec(text)) {
    const [line, type = ''] = match;
    const headers = headersAt(text, match.index + line.length);
    begin.lastIndex = headers.end;
    // Data may be missing, but not the line that ends the headers.
    const dataAt = headers.found ? headers.end + 1 : headers.end;
    if (endAt < dataAt) endAt = text.indexOf(endMark, dataAt);
    if (endAt < 0) return;
    const after = endAt + endMark.length;
    const rest = /[ \t]*(?:\r?\n|$)/y;
    rest.lastIndex = after + type.length + '-----'.length;
    if (!text.startsWith(`${type}-----`, after) || !rest.test(text)) continue;
    const bytes = decode(text.slice(dataAt, endAt));
    if (bytes === undefined) continue;
    begin.lastIndex = rest.lastIndex;
    yield { type, hasHeaders: headers.found, bytes, start: match.index, end: rest.lastIndex };
  }
}

/** Lines with a colon, after the line that ends at `from`, and where the last of all these lines ends. */
function headersAt(text: string, from: number): { readonly found: boolean; readonly end: number } {
  const header = /\n[^\n:]*:[^\n]*/y;
  let end = from;
  for (header.lastIndex = from; header.test(text); header.lastIndex = end) end = header.lastIndex;
  return { found: end > from, end };
}

/** Undefined for what is not base64 with its padding; white space may stand anywhere. */
function decode(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/= \t\r\n]*$/.test(text)) return undefined;
  const digits = text.replace(/[ \t\r\n]+/g, '');
  if (digits.length % 4 !== 0 || !/^[^=]*={0,2}$/.test(digits)) return undefined;
  return Buffer.from(digits, 'base64');
}
