import { isJsonObject, type Json } from '../../meta/index.ts';

/** A value as Go formats it with `%v`: `map[a:1]`, `[a b]`, `<nil>`. Templates and custom columns print values so. */
export function goText(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (isJsonObject(value)) {
    const members = Object.keys(value)
      .sort()
      .map((key) => `${key}:${goText(value[key] ?? null)}`);
    return `map[${members.join(' ')}]`;
  }
  return typeof value === 'number' ? goNumber(value) : String(value);
}

/** Large numbers with a fraction have an exponent from 1e+21 on, as in JavaScript, with two digits. */
const goNumber = (value: number): string => String(value).replace(/e([+-])(\d)$/, 'e$10$2');
