import { getKey, isJsonObject, type Json, jsonEqual } from '../meta/index.ts';

/** A parsed JSONPath, as printer columns and selectable fields use it. */
export type JsonPath = readonly Step[];

type Step =
  | { readonly type: 'member'; readonly name: string }
  | { readonly type: 'wildcard' }
  | { readonly type: 'recursive' }
  | {
      readonly type: 'slice';
      readonly start: number | undefined;
      readonly end: number | undefined;
      readonly step: number;
    }
  | { readonly type: 'union'; readonly parts: readonly JsonPath[] }
  | { readonly type: 'filter'; readonly left: Operand; readonly operator: Operator; readonly right: Operand };

type Operator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'exists';
type Operand = { readonly path: JsonPath } | { readonly value: Json };

/** The maximum length of a path in characters. */
const MAX_LENGTH = 4096;
/** The number of values of an object that finding the results of one path, and of all columns of a row, may visit. */
export const maxVisited = 10_000;
export const maxVisitedOfRow = 100_000;

/** A path that cannot be parsed. */
export class JsonPathError extends Error {}

/** Parses a path such as `.status.conditions[?(@.type=="Ready")].status`. @throws JsonPathError */
export function parseJsonPath(text: string): JsonPath {
  if (text.length > MAX_LENGTH) throw new JsonPathError(`the path is longer than ${MAX_LENGTH} characters`);
  return new Parser(text).path();
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  path(): JsonPath {
    const steps: Step[] = [];
    this.#rest(/[$@]/y);
    while (this.#at < this.#text.length) {
      if (this.#rest(/\.\./y) !== undefined) {
        steps.push({ type: 'recursive' });
        if (this.#peek() !== '[') this.#member(steps);
      } else if (this.#rest(/\./y) !== undefined) {
        if (this.#at < this.#text.length && this.#peek() !== '[') this.#member(steps);
      } else if (this.#peek() === '[') steps.push(this.#brackets());
      else if (steps.length > 0 || !this.#member(steps)) throw new JsonPathError(`unexpected ${this.#peek()}`);
    }
    return steps;
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  /** Consumes the match of a sticky expression at this place, and returns it. */
  #rest(expression: RegExp): string | undefined {
    expression.lastIndex = this.#at;
    const match = expression.exec(this.#text)?.[0];
    if (match !== undefined) this.#at += match.length;
    return match;
  }

  /** Adds the step for a name, in which a backslash escapes any character; returns whether there is a name. */
  #member(steps: Step[]): boolean {
    const name = this.#rest(/(?:[^\\.[\]{}\s]|\\[\s\S])+/y);
    if (name === undefined) return false;
    steps.push(name === '*' ? { type: 'wildcard' } : { type: 'member', name: name.replace(/\\([\s\S])/g, '$1') });
    return true;
  }

  #brackets(): Step {
    const content = this.#rest(/\[\?\((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^"'])*?\)\]/y);
    if (content !== undefined) return filterOf(content.slice(3, -2));
    const inner = this.#rest(/\[(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^"'\]])*\]/y)?.slice(1, -1);
    if (inner === undefined) throw new JsonPathError('unterminated array');
    const parts = inner.match(/(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^"',])+/g) ?? [];
    if (parts.length === 0) throw new JsonPathError(`invalid array index ${inner}`);
    const steps = parts.map((part) => indexOf(part.trim()));
    return steps.length === 1 ? (steps[0] as Step) : { type: 'union', parts: steps.map((step) => [step]) };
  }
}

function indexOf(text: string): Step {
  if (text === '*') return { type: 'wildcard' };
  const quoted = unquoted(text);
  if (quoted !== undefined) return { type: 'member', name: quoted };
  const slice = /^(-?[0-9]*)(?::(-?[0-9]*))?(?::([0-9]*))?$/.exec(text);
  if (slice === null || text === '' || text === '-') throw new JsonPathError(`invalid array index ${text}`);
  const [, first = '', last, by] = slice;
  const number = (digits: string | undefined) => (digits === undefined || digits === '' ? undefined : Number(digits));
  const start = number(first);
  if (text.includes(':')) return { type: 'slice', start, end: number(last), step: number(by) ?? 1 };
  // An index is a slice of one item.
  const index = start ?? 0;
  return { type: 'slice', start: index, end: index === -1 ? undefined : index + 1, step: 1 };
}

/** The text between quotes; undefined when there are none. */
function unquoted(text: string): string | undefined {
  const [, double, single] = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')$/.exec(text) ?? [];
  return (double ?? single)?.replace(/\\(.)/g, '$1');
}

function filterOf(text: string): Step {
  const parts = /^((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^"'=!<>])+?)\s*(==|!=|<=|>=|<|>)\s*(.+)$/s.exec(text.trim());
  if (parts === null)
    return { type: 'filter', left: operandOf(text.trim()), operator: 'exists', right: { value: null } };
  const [, left = '', operator = '==', right = ''] = parts;
  return {
    type: 'filter',
    left: operandOf(left.trim()),
    operator: operator as Operator,
    right: operandOf(right.trim()),
  };
}

function operandOf(text: string): Operand {
  const quoted = unquoted(text);
  if (quoted !== undefined) return { value: quoted };
  if (/^[+-]?[0-9]+(?:\.[0-9]+)?$/.test(text)) return { value: Number(text) };
  if (text === 'true' || text === 'false') return { value: text === 'true' };
  if (!/^[@$]/.test(text)) throw new JsonPathError(`unrecognized operand ${text}`);
  return { path: parseJsonPath(text) };
}

/** The first result of a path, for which `most` values may be visited; undefined when there is none. */
export function firstResult(path: JsonPath, value: Json, most = maxVisited): Json | undefined {
  // Most paths are names of members.
  let current: Json | undefined = value;
  for (const step of path) {
    if (step.type !== 'member') return results(path, value, { left: most })[0];
    if (!isJsonObject(current)) return undefined;
    current = getKey(current, step.name);
    if (current === undefined) return undefined;
  }
  return current;
}

/** How many more values may be visited. */
interface Bounds {
  left: number;
}

function results(path: JsonPath, value: Json, bounds: Bounds): readonly Json[] {
  let values: readonly Json[] = [value];
  for (const step of path) {
    const next: Json[] = [];
    for (const item of values) {
      if (--bounds.left < 0) return [];
      take(step, item, next, bounds);
    }
    values = next;
  }
  return values;
}

function take(step: Step, value: Json, matches: Json[], bounds: Bounds): void {
  switch (step.type) {
    case 'member': {
      const member = isJsonObject(value) ? getKey(value, step.name) : undefined;
      if (member !== undefined) matches.push(member);
      break;
    }
    case 'wildcard':
      for (const item of childrenOf(value)) matches.push(item);
      break;
    case 'recursive':
      descend(value, matches, bounds);
      break;
    case 'slice':
      if (Array.isArray(value)) sliceOf(step, value, matches);
      break;
    case 'union':
      for (const part of step.parts) for (const item of results(part, value, bounds)) matches.push(item);
      break;
    default:
      if (!Array.isArray(value)) break;
      for (const item of value) {
        if (--bounds.left < 0) break;
        if (passes(step, item, bounds)) matches.push(item);
      }
  }
}

const childrenOf = (value: Json): readonly Json[] =>
  Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];

/** The value and everything in it that has members or items. */
function descend(value: Json, matches: Json[], bounds: Bounds): void {
  if (typeof value !== 'object' || value === null || --bounds.left < 0) return;
  matches.push(value);
  for (const item of childrenOf(value)) descend(item, matches, bounds);
}

function sliceOf(
  { start = 0, end, step }: Extract<Step, { readonly type: 'slice' }>,
  list: readonly Json[],
  matches: Json[],
): void {
  const { length } = list;
  const from = start < 0 ? start + length : start;
  const to = end === undefined ? length : end < 0 ? end + length : end;
  // A slice that the list does not have has no items, not fewer.
  if (from < 0 || to > length || step < 1) return;
  for (let i = from; i < to; i += step) matches.push(list[i] as Json);
}

function passes(
  { left, operator, right }: Extract<Step, { readonly type: 'filter' }>,
  item: Json,
  bounds: Bounds,
): boolean {
  const operandValue = (operand: Operand): Json | undefined =>
    'value' in operand ? operand.value : results(operand.path, item, bounds)[0];
  const a = operandValue(left);
  if (operator === 'exists') return a !== undefined;
  const b = operandValue(right);
  if (a === undefined || b === undefined) return false;
  switch (operator) {
    case '==':
      return jsonEqual(a, b);
    case '!=':
      return !jsonEqual(a, b);
    default:
      return isOrdered(a, b) && compare(a, b, operator);
  }
}

const isOrdered = (a: Json, b: Json): boolean =>
  typeof a === typeof b && (typeof a === 'string' || typeof a === 'number') && a !== null && b !== null;

function compare(a: Json, b: Json, operator: Operator): boolean {
  const [x, y] = [a as string | number, b as string | number];
  return operator === '<' ? x < y : operator === '<=' ? x <= y : operator === '>' ? x > y : x >= y;
}
