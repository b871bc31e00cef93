import { wrap } from '../meta/index.ts';

/** The longest line of a comment. */
const lineLength = 116;

/** A value as a literal, texts in single quotes. */
export function literal(value: string | number | bigint | boolean): string {
  if (typeof value !== 'string') return String(value);
  const inner = JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inner}'`;
}

/** The name of a member, quoted unless it is an identifier. */
export const memberName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name));

/** The lines of a comment before a declaration; none for an empty text. */
export function comment(text: string, indent: string): string[] {
  const lines = text
    .replaceAll('*/', '*\\/')
    .split(/\r\n|[\r\n\u2028\u2029]/)
    .flatMap((line) => wrap(line.trimEnd(), lineLength - indent.length));
  while (lines.length > 0 && lines.at(-1) === '') lines.pop();
  while (lines.length > 0 && lines[0] === '') lines.shift();
  if (lines.length === 0) return [];
  if (lines.length === 1) return [`${indent}/** ${lines[0]} */`];
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}
