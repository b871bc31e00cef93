import { isJsonObject, type Json } from '../../meta/index.ts';

/** Letters and digits that form no words. */
const safe = 'bcdfghjklmnpqrstvwxz2456789';

/** A short text for a value, such as a pod template: the same for equal values, another one for another collision count. */
export function templateHash(value: Json, collisionCount?: number): string {
  const text = stableText(value) + (collisionCount === undefined ? '' : `#${collisionCount}`);
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return safeEncoded(String(hash >>> 0));
}

/** Each character as one of those that form no words. */
const safeEncoded = (text: string): string =>
  Array.from(text, (character) => safe[character.charCodeAt(0) % safe.length]).join('');

/** JSON with sorted keys. */
function stableText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(stableText).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${stableText(value[key] ?? null)}`).join(',')}}`;
}
