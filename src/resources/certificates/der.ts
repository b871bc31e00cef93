/** One value of DER (ITU-T X.690): where it begins, where what it holds begins, where both end. */
export interface DerValue {
  readonly tag: number;
  readonly start: number;
  readonly body: number;
  readonly end: number;
}

/** The value that begins at `start`; undefined when none does. Tags of one byte, and lengths as short as they can be. */
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

/** The values that another holds; undefined when it holds something else. */
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
