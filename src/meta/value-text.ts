import { isJsonObject, type Json } from './json.ts';

/**
 * A value as the reference server shows it in messages: `map[image:x ports:[map[containerPort:80]]]`, keys sorted, strings
 * without quotes. At most its first `length` characters, and no more of the value is read than they need.
 */
export function valueText(value: Json, length: number): string {
  let text = '';
  const write = (part: Json, before: string) => {
    if (text.length >= length) return;
    text += before;
    if (Array.isArray(part)) {
      text += '[';
      for (let i = 0; i < part.length && text.length < length; i++) write(part[i] as Json, i === 0 ? '' : ' ');
      text += ']';
    } else if (isJsonObject(part)) {
      text += 'map[';
      const keys = Object.keys(part).sort();
      for (let i = 0; i < keys.length && text.length < length; i++) {
        const key = keys[i] as string;
        write(part[key] as Json, `${i === 0 ? '' : ' '}${key}:`);
      }
      text += ']';
    } else text += part === null ? '<nil>' : String(part).slice(0, length);
  };
  write(value, '');
  return text.slice(0, length);
}
