import { encodeText } from '../meta/index.ts';
import type { ApiResponse } from './types.ts';

/** All warnings of an answer together, and each one when that is too much (characters). */
const maxWarnings = 4096;
const maxWarning = 256;

/** The same answer with a `Warning` header for each text (RFC 7234, 5.5). */
export function withWarnings(answer: ApiResponse, warnings: ReadonlySet<string>): ApiResponse {
  if (warnings.size === 0) return answer;
  const texts = limit([...new Set([...warnings].map(clean).filter((text) => text !== ''))]);
  const values = texts.map((text) => encodeText(`299 - "${text.replace(/[\\"]/g, '\\$&')}"`));
  return { ...answer, headers: { ...answer.headers, warning: values } };
}

/** Long texts are cut when all together are too long; what is too much even then is left out. */
function limit(texts: readonly string[]): readonly string[] {
  if (texts.reduce((sum, text) => sum + text.length, 0) <= maxWarnings) return texts;
  const kept: string[] = [];
  let left = maxWarnings;
  for (const text of texts) {
    const short = text.slice(0, maxWarning);
    left -= short.length;
    if (left < 0) break;
    kept.push(short);
  }
  return kept;
}

/** A header holds no control characters. */
const clean = (text: string) => text.replace(/\p{Cc}+/gu, ' ').trim();
