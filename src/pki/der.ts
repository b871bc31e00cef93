/** DER (ITU-T X.690): a writer of the element types of certificates, and a reader of elements. */

function element(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const length = content.length;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  if (length > 0xffffff) throw new RangeError(`an element of ${length} bytes`);
  const size = length > 0xffff ? 3 : length > 0xff ? 2 : 1;
  const head = Buffer.from([tag, 0x80 | size, 0, 0, 0]).subarray(0, 2 + size);
  head.writeUIntBE(length, 2, size);
  return Buffer.concat([head, content]);
}

/** Each function returns one complete element. */
export const der = {
  sequence: (...items: Uint8Array[]) => element(0x30, ...items),
  set: (...items: Uint8Array[]) => element(0x31, ...items),
  boolean: (value: boolean) => element(0x01, Buffer.from([value ? 0xff : 0])),
  octets: (bytes: Uint8Array) => element(0x04, bytes),
  utf8: (text: string) => element(0x0c, Buffer.from(text)),
  /** A PrintableString; the text must be one. */
  printable: (text: string) => element(0x13, Buffer.from(text)),
  null: () => element(0x05),

  /** A non-negative INTEGER from its big-endian bytes. */
  unsigned: (bytes: Uint8Array) => {
    let start = 0;
    while (start < bytes.length - 1 && bytes[start] === 0) start++;
    const digits = bytes.subarray(start);
    return element(0x02, ...((digits[0] ?? 0) >= 0x80 ? [Buffer.from([0]), digits] : [digits]));
  },

  /** A BIT STRING of named bits, without trailing zero bits. */
  bits: (...set: number[]) => {
    const last = set.reduce((a, b) => Math.max(a, b));
    const bytes = Buffer.alloc((last >> 3) + 1);
    for (const bit of set) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
    return element(0x03, Buffer.from([7 - (last & 7)]), bytes);
  },
  /** A BIT STRING of whole bytes. */
  bitString: (bytes: Uint8Array) => element(0x03, Buffer.from([0]), bytes),

  objectId: (dotted: string) => {
    const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
    return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
  },

  /** Whole seconds; UTCTime up to 2049 and GeneralizedTime after (RFC 5280, 4.1.2.5). */
  time: (ms: number) => {
    const digits = `${new Date(ms).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
    return digits < '2050' ? element(0x17, Buffer.from(digits.slice(2))) : element(0x18, Buffer.from(digits));
  },

  /** `[number] EXPLICIT`. */
  explicit: (number: number, ...items: Uint8Array[]) => element(0xa0 | number, ...items),
  /** `[number] IMPLICIT` of a primitive element with this content. */
  implicit: (number: number, content: Uint8Array) => element(0x80 | number, content),
};

function base128(value: number): number[] {
  const out = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) out.unshift((rest & 0x7f) | 0x80);
  return out;
}

/** A parsed element: the offsets of its tag, of its content, and of its end. */
export interface DerElement {
  readonly tag: number;
  readonly start: number;
  readonly body: number;
  readonly end: number;
}

/** Tags of the universal class. */
export const derTag = { integer: 0x02, bitString: 0x03, octets: 0x04, objectId: 0x06, sequence: 0x30, set: 0x31 };

/**
 * The element at `start`; undefined when there is none or it is truncated. Only single-byte tags and minimal definite
 * lengths are accepted.
 */
export function readDer(der: Buffer, start: number): DerElement | undefined {
  const [tag, first] = [der[start], der[start + 1]];
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  const body = start + 2 + lengthBytes;
  if (lengthBytes > 4 || first === 0x80 || body > der.length) return undefined;
  const length = lengthBytes === 0 ? first : der.readUIntBE(start + 2, lengthBytes);
  if (lengthBytes > 0 && length < (lengthBytes === 1 ? 0x80 : 2 ** (8 * (lengthBytes - 1)))) return undefined;
  const end = body + length;
  return end > der.length ? undefined : { tag, start, body, end };
}

/** The elements inside a constructed element; undefined when its content is not a sequence of elements. */
export function derChildren(der: Buffer, { body, end }: DerElement): DerElement[] | undefined {
  const children: DerElement[] = [];
  for (let next = body; next < end; ) {
    const child = readDer(der, next);
    if (child === undefined || child.end > end) return undefined;
    children.push(child);
    next = child.end;
  }
  return children;
}
