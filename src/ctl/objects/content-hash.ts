import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../meta/index.ts';
import { compactJson } from '../output/json.ts';

/**
 * The hash of the content of a config map or secret, which is appended to its name: ten letters of the SHA-256 of the data,
 * without vowels and digits that spell words.
 */
export function hashOf({ kind, metadata, data = {}, binaryData, type }: JsonObject): string {
  const content: JsonObject = {
    ...(binaryData === undefined ? {} : { binaryData }),
    data,
    kind: kind ?? '',
    name: isJsonObject(metadata) ? (metadata['name'] ?? '') : '',
    ...(kind === 'Secret' ? { type: type ?? '' } : {}),
  };
  const hex = createHash('sha256').update(compactJson(content)).digest('hex');
  const replacements: { readonly [digit: string]: string } = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' };
  return Array.from(hex.slice(0, 10), (digit) => replacements[digit] ?? digit).join('');
}
