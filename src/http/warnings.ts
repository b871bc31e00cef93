import { encodeText } from '../meta/index.ts';
import type { ApiResponse } from './types.ts';

/** Limit of all warnings of a response together, and of each one when that is exceeded (Unicode characters). */
const maxWarnings = 4096;
const maxWarning = 256;

/**
 * The distinct warnings of a request. A few more are kept than a response can show, so that a policy that warns once for
 * each of its parameters takes no memory for them.
 */
export class Warnings extends Set<string> {
  #room = 16 * maxWarnings;

  override add(text: string): this {
    if (this.#room <= 0 || this.has(text)) return this;
    this.#room -= Math.max(1, Math.min(text.length, maxWarning));
    return super.add(text);
  }
}

/** The response with a `Warning` header for each text (RFC 7234, 5.5). */
export function withWarnings(answer: ApiResponse, warnings: ReadonlySet<string>): ApiResponse {
  if (warnings.size === 0) return answer;
  const texts = new Set<string>();
  // No more can fit: each has at least one character.
  for (const text of warnings) {
    const shown = clean(text.slice(0, 3 * maxWarnings));
    if (shown !== '' && texts.add(shown).size > maxWarnings) break;
  }
  const values = limited([...texts]).map((text) => encodeText(`299 - "${text.replace(/[\\"]/g, '\\$&')}"`));
  return { ...answer, headers: { ...answer.headers, warning: values } };
}

/** Truncates long texts when all together exceed the limit, and drops those that still do not fit. */
function limited(texts: readonly string[]): readonly string[] {
  if (!exceeds(texts)) return texts;
  const kept: string[] = [];
  let length = 0;
  for (const text of texts) {
    if (length >= maxWarnings) break;
    const characters = Array.from(text).slice(0, maxWarning);
    length += characters.length;
    kept.push(characters.join(''));
  }
  return kept;
}

function exceeds(texts: readonly string[]): boolean {
  let length = 0;
  return texts.some((text) => {
    length += Array.from(text).length;
    return length > maxWarnings;
  });
}

/** Headers cannot contain control characters. */
const clean = (text: string) => text.replace(/\p{Cc}+/gu, ' ').trim();
