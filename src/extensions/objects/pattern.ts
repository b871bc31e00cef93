import { RE2JS } from 're2js';

/** Whether a text contains a match of a pattern. */
export type Matcher = (text: string) => boolean;

/** Compiles a pattern in the syntax of RE2, which takes linear time. @throws Error for an invalid one */
export function compilePattern(pattern: string): Matcher {
  const compiled = RE2JS.compile(pattern);
  return (text) => compiled.matcher(text).find();
}
