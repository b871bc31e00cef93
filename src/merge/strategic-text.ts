import { type Json, valueText } from '../meta/index.ts';

/** The maximum length of a value in a message, in characters. */
const maxText = 4096;

/** A value as shown in errors of strategic merge patches. Text beyond 4,096 characters is replaced by `...`. */
export function patchText(value: Json): string {
  const text = valueText(value, maxText + 1);
  return text.length > maxText ? `${text.slice(0, maxText)}...` : text;
}
