import { type Json, largeWeight, Pace, type Steps, weigh } from '../meta/index.ts';
import { prettyJson } from './json.ts';

/** Like `prettyJson`, in steps for a large value. */
export function* prettyJsonInSteps(value: Json): Steps<string> {
  const parts: string[] = [];
  yield* write(value, '', '\n', parts, new Pace());
  return parts.join('');
}

/** `before` is the text before the value; `line` is a line feed and the current indentation. */
function* write(value: Json, before: string, line: string, parts: string[], pace: Pace): Steps<void> {
  const weight = weigh(value);
  if (pace.over(weight)) yield;
  if (typeof value !== 'object' || value === null || weight < largeWeight) {
    const text = prettyJson(value);
    // In the text of a value, a line feed is escaped.
    parts.push(before + (typeof value === 'object' ? text.replaceAll('\n', line) : text));
    return;
  }
  const isList = Array.isArray(value);
  const inner = `${line}  `;
  let start = before + (isList ? '[' : '{') + inner;
  for (const key of isList ? value.keys() : Object.keys(value)) {
    const item = (value as { readonly [key: string | number]: Json })[key] as Json;
    yield* write(item, start + (isList ? '' : `${JSON.stringify(key)}: `), inner, parts, pace);
    start = `,${inner}`;
  }
  parts.push(line, isList ? ']' : '}');
}
