/** PEM (RFC 7468): certificates, certificate signing requests and keys. */

export interface PemBlock {
  /** Such as `CERTIFICATE`. */
  readonly type: string;
  /** Whether the block has header lines `name: value` (RFC 1421). */
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
  /** The text of the block, with its final line break. */
  readonly text: string;
}

/** The PEM blocks of a text, each when it is asked for. Text outside them and malformed blocks are skipped. */
export function* eachPemBlock(text: string): Generator<PemBlock, undefined, undefined> {
  for (const { start, end, ...block } of blocksOf(text)) yield { ...block, text: text.slice(start, end) };
}

export const pemBlocks = (text: string): PemBlock[] => [...eachPemBlock(text)];

/** The first block of a text; undefined when it has none. */
export const firstPemBlock = (text: string): PemBlock | undefined => eachPemBlock(text).next().value;

/** The block of a text that holds one block and white space only; undefined otherwise. */
export function onlyPemBlock(text: string): PemBlock | undefined {
  const block = firstPemBlock(text);
  return block !== undefined && text.trim() === block.text.trim() ? block : undefined;
}

/** Encodes bytes as a PEM block with a final line break. */
export function formatPem(type: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${type}-----`, ...lines, `-----END ${type}-----`, ''].join('\n');
}

interface Found extends Omit<PemBlock, 'text'> {
  readonly start: number;
  readonly end: number;
}

/** BEGIN and END must be lines of their own. Takes linear time for any text. */
function* blocksOf(text: string): Generator<Found> {
  const begin = /(?<![^\n])-----BEGIN ([^\n]*)-----[ \t]*\r?(?=\n)/g;
  const endMark = '\n-----END ';
  let endAt = -1;
  for (let match = begin.exec(text); match !== null; match = begin.exec(text)) {
    const [line, type = ''] = match;
    const headers = headersAt(text, match.index + line.length);
    begin.lastIndex = headers.end;
    // The data may be empty, but headers must end with an empty line.
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

/** Whether header lines follow the line that ends at `from`, and the end of the last one. */
function headersAt(text: string, from: number): { readonly found: boolean; readonly end: number } {
  const header = /\n[^\n:]*:[^\n]*/y;
  let end = from;
  for (header.lastIndex = from; header.test(text); header.lastIndex = end) end = header.lastIndex;
  return { found: end > from, end };
}

/** Decodes padded base64 with white space anywhere; undefined when it is invalid. */
function decode(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/= \t\r\n]*$/.test(text)) return undefined;
  const digits = text.replace(/[ \t\r\n]+/g, '');
  if (digits.length % 4 !== 0 || !/^[^=]*={0,2}$/.test(digits)) return undefined;
  return Buffer.from(digits, 'base64');
}
