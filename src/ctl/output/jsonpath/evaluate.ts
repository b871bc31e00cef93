import { isJsonObject, type Json } from '../../../meta/index.ts';
import { compactJson } from '../json.ts';
import { type Node, type Operand, parseJsonPath, type Step, TemplateError } from './parse.ts';

/** The maximum number of values of one expression. */
const maxValues = 1_000_000;

/** A template that prints objects. */
export interface JsonPath {
  /** The text of the template for a value. @throws TemplateError */
  print(value: Json): string;
  /** The values of all expressions, in the order of the template. @throws TemplateError */
  values(value: Json): Json[];
}

/** `allowMissing`: a missing field is no error. @throws TemplateError */
export function jsonPath(template: string, allowMissing = true): JsonPath {
  const nodes = parseJsonPath(template);
  const collect = (
    list: readonly Node[],
    root: Json,
    item: Json,
    out: (node: Node, values: readonly Json[]) => void,
  ) => {
    for (const node of list) {
      if (node.is === 'range') {
        for (const each of valuesOf(node.path, root, item)) collect(node.body, root, each, out);
      } else out(node, valuesOf(node, root, item));
    }
  };
  const valuesOf = (node: Node, root: Json, item: Json): readonly Json[] =>
    node.is === 'path' ? follow(node.steps, node.fromRoot ? root : item, root, allowMissing) : [];
  return {
    print: (value) => {
      const pieces: string[] = [];
      collect(nodes, value, value, (node, values) => {
        pieces.push(node.is === 'text' ? node.text : values.map(printedValue).join(' '));
      });
      return pieces.join('');
    },
    values: (value) => {
      const all: Json[] = [];
      collect(nodes, value, value, (_, values) => {
        for (const each of values) all.push(each);
      });
      return all;
    },
  };
}

/** Texts as they are, everything else as JSON. */
export function printedValue(value: Json): string {
  if (typeof value === 'string') return value;
  return value === null ? '<nil>' : compactJson(value);
}

function follow(steps: readonly Step[], start: Json, root: Json, allowMissing: boolean): Json[] {
  let values: Json[] = [start];
  for (const step of steps) {
    const next: Json[] = [];
    for (const value of values) {
      for (const found of take(step, value, root, allowMissing)) next.push(found);
      if (next.length > maxValues) throw new TemplateError(`an expression has more than ${maxValues} values`);
    }
    values = next;
  }
  return values;
}

function take(step: Step, value: Json, root: Json, allowMissing: boolean): readonly Json[] {
  switch (step.is) {
    case 'field':
      return fieldOf(value, step.name, allowMissing);
    case 'fields':
      return step.names.flatMap((name) => fieldOf(value, name, allowMissing));
    case 'wildcard':
      return childrenOf(value);
    case 'recursive':
      return descendants(value);
    case 'indices':
      return Array.isArray(value) ? step.indices.flatMap((index) => itemOf(value, index)) : notAnArray(value);
    case 'slice':
      return Array.isArray(value) ? sliceOf(value, step) : notAnArray(value);
    case 'filter':
      return childrenOf(value).filter((item) => passes(step, item, root));
  }
}

function fieldOf(value: Json, name: string, allowMissing: boolean): Json[] {
  if (isJsonObject(value) && Object.hasOwn(value, name)) return [value[name] ?? null];
  if (allowMissing) return [];
  throw new TemplateError(`${name} is not found`);
}

const childrenOf = (value: Json): Json[] =>
  Array.isArray(value)
    ? value
    : isJsonObject(value)
      ? Object.keys(value)
          .sort()
          .map((key) => value[key] ?? null)
      : [];

/** The value and everything in it. */
function descendants(value: Json): Json[] {
  const all: Json[] = [];
  const visit = (item: Json) => {
    all.push(item);
    for (const child of childrenOf(item)) visit(child);
  };
  visit(value);
  return all;
}

function itemOf(list: readonly Json[], index: number): Json[] {
  const at = index < 0 ? list.length + index : index;
  const item = list[at];
  if (item !== undefined) return [item];
  throw new TemplateError(`array index out of bounds: index ${at}, length ${list.length}`);
}

function sliceOf(
  list: readonly Json[],
  { start = 0, end = list.length, step }: Extract<Step, { is: 'slice' }>,
): Json[] {
  if (step <= 0) throw new TemplateError('step must be > 0');
  return list.slice(start, end).filter((_, i) => i % step === 0);
}

function notAnArray(value: Json): Json[] {
  if (value === null) return [];
  throw new TemplateError(`${printedValue(value)} is not array or slice`);
}

function passes({ left, operator, right }: Extract<Step, { is: 'filter' }>, item: Json, root: Json): boolean {
  const [lefts, rights] = [operandValues(left, item, root), operandValues(right, item, root)];
  if (operator === '') return lefts.length > 0;
  const [a, b] = [lefts[0], rights[0]];
  if (a === undefined || b === undefined) return false;
  if (operator === '==') return isEqual(a, b);
  if (operator === '!=') return !isEqual(a, b);
  if (typeof a === 'object' || typeof b === 'object') return false;
  if (typeof a !== typeof b) throw new TemplateError('can only compare values of one type');
  return { '<': a < b, '<=': a <= b, '>': a > b, '>=': a >= b }[operator] ?? false;
}

function operandValues(operand: Operand, item: Json, root: Json): readonly Json[] {
  if (operand.is === 'nothing') return [];
  return operand.is === 'value' ? [operand.value] : follow(operand.steps, operand.fromRoot ? root : item, root, true);
}

const isEqual = (a: Json, b: Json): boolean =>
  a === b || (typeof a === 'object' && printedValue(a) === printedValue(b));
