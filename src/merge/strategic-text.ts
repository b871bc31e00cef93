import { isJsonObject, type Json } from '../meta/index.ts';

/** The maximum length of a value in a message, in characters. */
const maxText = 4096;

/**
 * A value as shown in errors of strategic merge patches: `map[image:x ports:[map[containerPort:80]]]`, keys sorted,
 * strings without quotes. Text beyond 4,096 characters is replaced by `...`.
 */
export function patchText(value: Json): string {
  const pieces: string[] = [];
  let left = maxText;
  const write = (text: string) => {
    if (left < 0) return;
    pieces.push(text.slice(0, left));
    left -= text.length;
  };
  const spell = (part: Json, before: string) => {
    if (left < 0) return;
    if (Array.isArray(part)) {
      write(`${before}[`);
      for (let i = 0; i < part.length && left >= 0; i++) spell(part[i] as Json, i === 0 ? '' : ' ');
      write(']');
    } else if (isJsonObject(part)) {
      write(`${before}map[`);
      const keys = Object.keys(part).sort();
      for (let i = 0; i < keys.length && left >= 0; i++) {
        const key = keys[i] as string;
        spell(part[key] as Json, `${i === 0 ? '' : ' '}${key}:`);
      }
      write(']');
    } else {
      write(`${before}${part === null ? '<nil>' : String(part)}`);
    }
  };
  spell(value, '');
  return `${pieces.join('')}${left < 0 ? '...' : ''}`;
}
