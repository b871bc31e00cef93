import type { ByteString } from '../../meta/index.ts';

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;

/**
 * The JSON text of an object without its lists and objects that `isWanted` does not name. Undefined where the text is not
 * written as this server writes it.
 */
export function outlineOf(text: ByteString, isWanted: (name: string) => boolean): ByteString | undefined {
  if (!text.startsWith('{"')) return undefined;
  const members: string[] = [];
  let depth = 0;
  let start = 1;
  const isMember = (end: number): boolean => {
    const colon = text[start] === '"' ? endOfText(text, start) : -1;
    if (colon < 0 || text[colon] !== ':') return false;
    const first = text[colon + 1];
    const isScalar = first !== '{' && first !== '[';
    if (isScalar || isWanted(text.slice(start + 1, colon - 1))) members.push(text.slice(start, end));
    start = end + 1;
    return true;
  };
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfText(text, at);
      if (at < 0) return undefined;
      continue;
    }
    if (code === 0x7b || code === 0x5b) depth++;
    else if (code === 0x7d || code === 0x5d) depth--;
    if ((depth === 0 || (depth === 1 && code === comma)) && !isMember(at)) return undefined;
    at++;
    if (depth === 0) return at === text.length ? (`{${members.join(',')}}` as ByteString) : undefined;
  }
  return undefined;
}

/** The index behind a text in quotes; -1 when it does not end. */
function endOfText(text: ByteString, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === backslash) at++;
  }
  return -1;
}
