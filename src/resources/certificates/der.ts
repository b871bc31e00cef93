/** A DER value (ITU-T X.690): the offsets of its start, its content and its end. */
export interface DerValue {
  readonly tag: number;
  readonly start: number;
  readonly body: number;
  readonly end: number;
}

/** The value at `start`; undefined when there is none. Tags are one byte, lengths have the shortest form. */
export function readDer(der: Buffer, start: number): DerValue | undefined {
  const [tag, first] = [der[start], der[start + 1]];
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined;
  const more = first < 0x80 ? 0 : first & 0x7f;
  const body = start + 2 + more;
  if (more > 4 || first === 0x80 || body > der.length) return undefined;
  const length = more === 0 ? first : der.readUIntBE(start + 2, more);
  if (more > 0 && length < (more === 1 ? 0x80 : 2 ** (8 * (more - 1)))) return undefined;
  const end = body + length;
  return end > der.length ? undefined : { tag, start, body, end };
}

/** The values inside a constructed value; undefined when its content is not DER. */
export function insideDer(der: Buffer, { body, end }: DerValue): DerValue[] | undefined {
  const found: DerValue[] = [];
  for (let next = body; next < end; ) {
    const value = readDer(der, next);
    if (value === undefined || value.end > end) return undefined;
    found.push(value);
    next = value.end;
  }
  return found;
}
