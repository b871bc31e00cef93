import { type Json, MAX_DEPTH, readJsonText } from './json.ts';
import { parseExactInSteps } from './json-exact.ts';
import { StatusError } from './status-error.ts';
import type { Steps } from './steps.ts';

/** A text up to this length (characters) is parsed in one step: it has at most some thousand fields. */
const shortText = 16 * 1024;

/** Parses untrusted JSON in steps; undefined when it is invalid or nests deeper than a request body may. */
export function* readJsonTextInSteps(text: string): Steps<Json | undefined> {
  if (text.length <= shortText) return readJsonText(text);
  yield;
  try {
    return (yield* parseExactInSteps(text, { maxDepth: MAX_DEPTH })).value;
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}
