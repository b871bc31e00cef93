/** Standard base64 as Go decodes it: padded, line breaks allowed anywhere, trailing bits ignored. */

/** The canonical encoding of the same bytes; undefined when the text is not base64. */
export function canonicalBase64(text: string): string | undefined {
  const canonical = Buffer.from(text, 'base64').toString('base64');
  if (canonical === text) return text;
  return base64ErrorOffset(text) === undefined ? canonical : undefined;
}

export const isBase64 = (text: string): boolean => base64ErrorOffset(text) === undefined;

/** The offset of the first invalid byte; undefined for valid base64. */
export function base64ErrorOffset(text: string): number | undefined {
  const bytes = Buffer.from(text);
  let at = 0;
  const skipBreaks = () => {
    while (bytes[at] === 0x0a || bytes[at] === 0x0d) at++;
  };
  for (let digits = 0; ; ) {
    skipBreaks();
    const byte = bytes[at];
    if (byte === undefined) return digits === 0 ? undefined : at - digits;
    if (isDigit(byte)) {
      digits = (digits + 1) % 4;
      at++;
      continue;
    }
    if (byte !== PAD || digits < 2) return at;
    at++;
    skipBreaks();
    if (digits === 2) {
      if (at === bytes.length) return at;
      if (bytes[at] !== PAD) return at - 1;
      at++;
      skipBreaks();
    }
    return at === bytes.length ? undefined : at;
  }
}

const PAD = 0x3d;

function isDigit(byte: number): boolean {
  return (
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x2b ||
    byte === 0x2f
  );
}
