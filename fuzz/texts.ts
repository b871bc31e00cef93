import { stringifyJson } from '../src/codec/index.ts';
import { type Json, type JsonObject, jsonType } from '../src/meta/index.ts';
import type { Random } from './random.ts';
import { anyText } from './values.ts';

/** Unusual JSON text of a value: odd white space, escapes and numbers, sometimes duplicate keys. */
export function oddJson(random: Random, value: Json): string {
  const space = () => (random.once(8) ? random.pick([' ', '\n', '\r\n', '\t', '  ']) : '');
  switch (jsonType(value)) {
    case 'string':
      return jsonText(random, value as string);
    case 'array':
      return `[${space()}${(value as Json[]).map((item) => oddJson(random, item) + space()).join(`,${space()}`)}]`;
    case 'object': {
      const members = Object.entries(value as JsonObject).map(
        ([key, item]) => `${jsonText(random, key)}${space()}:${space()}${oddJson(random, item)}`,
      );
      const [key] = Object.keys(value as JsonObject);
      if (key !== undefined && random.once(6)) members.push(`${jsonText(random, key)}:${random.below(3)}`);
      return `{${space()}${members.join(`${space()},${space()}`)}}`;
    }
    case 'number':
      return typeof value === 'number' && random.once(5) ? value.toExponential() : stringifyJson(value);
    default:
      return stringifyJson(value);
  }
}

function jsonText(random: Random, text: string): string {
  if (!random.once(5)) return JSON.stringify(text);
  const escaped = Array.from(text, (character) =>
    character.length === 1 && random.once(3)
      ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
      : JSON.stringify(character).slice(1, -1),
  );
  return `"${escaped.join('')}"`;
}

/** YAML text of a value in a random style. */
export function oddYaml(random: Random, value: Json, indent = ''): string {
  if (random.once(12)) return oddJson(random, value);
  const deeper = `${indent}${random.pick([' ', '  ', '    '])}`;
  if (Array.isArray(value) && value.length > 0) {
    return value.map((item) => `\n${indent}- ${oddYaml(random, item, deeper)}`).join('');
  }
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
    const members = Object.entries(value as JsonObject).map(
      ([key, item]) => `\n${indent}${yamlKey(random, key)}: ${mark(random)}${oddYaml(random, item, deeper)}`,
    );
    if (random.once(10)) members.push(`\n${indent}<<: *a`);
    return members.join('');
  }
  return typeof value === 'string' ? yamlScalar(random, value, deeper) : JSON.stringify(value, bigintAsText);
}

const bigintAsText = (_: string, item: unknown) => (typeof item === 'bigint' ? String(item) : item);

const mark = (random: Random) =>
  random.once(12)
    ? random.pick(['&a ', '!!str ', '!!map ', '!!binary ', '! ', '*a ', '!<tag:yaml.org,2002:int> '])
    : '';

const yamlKey = (random: Random, key: string) =>
  random.once(6) ? `? ${JSON.stringify(key)}\n` : random.once(3) ? key : JSON.stringify(key);

function yamlScalar(random: Random, text: string, indent: string): string {
  const lines = text.split('\n').join(`\n${indent}`);
  switch (random.below(7)) {
    case 0:
      return `|${random.pick(['', '-', '+', '2', '2-'])}\n${indent}${lines}\n`;
    case 1:
      return `>${random.pick(['', '-', '+'])}\n${indent}${lines}\n${indent}${anyText(random)}`;
    case 2:
      return `'${text.replaceAll("'", "''")}'`;
    case 3:
      return `"${text}\\${random.pick(['n', 'x41', 'u00e9', 'U0001F600', 'q', '\n', 'N', 'P'])}"`;
    case 4:
      return text;
    default:
      return JSON.stringify(text);
  }
}
