import { isJsonObject, type Json, type JsonObject } from '../../../meta/index.ts';
import { goText } from '../go-value.ts';
import { TemplateError } from '../jsonpath/parse.ts';
import { type Pipe, parseTemplate, type TemplateNode, type Term } from './parse.ts';

/** A value of a template: a field that is missing has none. */
type Value = Json | undefined;

const text = (value: Value): string => (value === undefined ? '<no value>' : goText(value));
const size = (value: Value): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (Array.isArray(value)) return value.length;
  if (isJsonObject(value)) return Object.keys(value).length;
  throw new TemplateError(`len of type ${value === undefined ? 'nil' : typeof value}`);
};
const order = (name: string, holds: (a: number | string, b: number | string) => boolean) => (a: Value, b: Value) => {
  const comparable =
    (typeof a === 'number' && typeof b === 'number') || (typeof a === 'string' && typeof b === 'string');
  if (!comparable) throw new TemplateError(`error calling ${name}: incompatible types for comparison`);
  return holds(a, b);
};
const isTrue = (value: Value): boolean => {
  if (value === undefined || value === null || value === false || value === 0 || value === '') return false;
  return typeof value === 'object' ? size(value) > 0 : true;
};
const step = (value: Value, key: Value): Value => {
  if (Array.isArray(value) && typeof key === 'number') {
    if (key < 0 || key >= value.length) throw new TemplateError(`error calling index: index out of range: ${key}`);
    return value[key];
  }
  return isJsonObject(value) && typeof key === 'string' ? field(value, key) : undefined;
};
const field = (value: JsonObject, name: string): Value => (Object.hasOwn(value, name) ? value[name] : undefined);

/** The functions of templates. `exists`, `base64decode` and `parseTimestamp` are those that kubectl adds. */
const functions: { readonly [name: string]: (...args: Value[]) => Value } = {
  and: (...args) => args.find((arg) => !isTrue(arg)) ?? args.at(-1),
  or: (...args) => args.find(isTrue) ?? args.at(-1),
  not: (value) => !isTrue(value),
  eq: (first, ...others) => others.some((other) => other === first || text(other) === text(first)),
  ne: (a, b) => text(a) !== text(b),
  lt: order('lt', (a, b) => a < b),
  le: order('le', (a, b) => a <= b),
  gt: order('gt', (a, b) => a > b),
  ge: order('ge', (a, b) => a >= b),
  len: size,
  index: (value, ...keys) => keys.reduce(step, value),
  print: (...args) => args.map(text).join(''),
  println: (...args) => `${args.map(text).join(' ')}\n`,
  printf: (format, ...args) => formatted(text(format), args),
  html: (...args) =>
    args
      .map(text)
      .join('')
      .replaceAll(/[<>&'"]/g, (c) => `&#${c.charCodeAt(0)};`),
  urlquery: (...args) => encodeURIComponent(args.map(text).join('')),
  exists: (value, ...keys) => keys.reduce(step, value) !== undefined,
  base64decode: (value) => Buffer.from(text(value), 'base64').toString(),
};

function formatted(format: string, args: readonly Value[]): string {
  let next = 0;
  return format.replaceAll(/%(-?)(\d*)([sdvqt%])/g, (_, left: string, width: string, verb: string) => {
    if (verb === '%') return '%';
    const value = args[next++];
    const shown = verb === 'q' ? JSON.stringify(text(value)) : text(value);
    return left === '' ? shown.padStart(Number(width)) : shown.padEnd(Number(width));
  });
}

/** The maximum length of the text that a template prints. */
const maxOutput = 256 * 1024 * 1024;

type Variables = Map<string, Value>;

/** Parses a template. The returned function prints a value. @throws TemplateError */
export function goTemplate(template: string): (value: Json) => string {
  const nodes = parseTemplate(template, new Set(Object.keys(functions)));
  return (value) => {
    const run = new Run();
    run.nodes(nodes, value, new Map([['$', value]]));
    return run.out.join('');
  };
}

class Run {
  readonly out: string[] = [];
  #size = 0;

  nodes(nodes: readonly TemplateNode[], dot: Value, variables: Variables): void {
    for (const node of nodes) this.#node(node, dot, variables);
  }

  #node(node: TemplateNode, dot: Value, variables: Variables): void {
    if (node.is === 'text') this.#write(node.text);
    else if (node.is === 'print') {
      const value = this.#pipe(node.pipe, dot, variables);
      if (node.pipe.variables.length === 0) this.#write(text(value));
    } else if (node.is === 'range') this.#range(node, dot, variables);
    else {
      // A variable of the condition is visible in the block alone.
      const inner = new Map(variables);
      const value = this.#pipe(node.pipe, dot, inner);
      if (isTrue(value)) this.nodes(node.body, node.is === 'with' ? value : dot, inner);
      else this.nodes(node.otherwise, dot, inner);
    }
  }

  #range(node: Extract<TemplateNode, { is: 'range' | 'if' | 'with' }>, dot: Value, variables: Variables): void {
    const value = this.#pipe({ ...node.pipe, variables: [] }, dot, variables);
    const entries: [Json, Json][] = Array.isArray(value)
      ? [...value.entries()]
      : isJsonObject(value)
        ? Object.keys(value)
            .sort()
            .map((key) => [key, value[key] ?? null])
        : [];
    if (!Array.isArray(value) && !isJsonObject(value) && isTrue(value)) {
      throw new TemplateError(`range can't iterate over ${text(value)}`);
    }
    for (const [key, item] of entries) {
      const inner = new Map(variables);
      const [first, second] = node.pipe.variables;
      if (second !== undefined) inner.set(first ?? '', key).set(second, item);
      else if (first !== undefined) inner.set(first, item);
      this.nodes(node.body, item, inner);
    }
    if (entries.length === 0) this.nodes(node.otherwise, dot, variables);
  }

  #pipe({ commands, variables: assigned }: Pipe, dot: Value, variables: Variables): Value {
    let value: Value;
    for (const [i, terms] of commands.entries()) {
      const [head, ...rest] = terms as [Term, ...Term[]];
      const piped = i === 0 ? [] : [value];
      const args = () => [...rest.map((term) => this.#term(term, dot, variables)), ...piped];
      if (head.is === 'function') value = functions[head.name]?.(...args());
      else if (rest.length > 0) throw new TemplateError("can't give argument to non-function");
      else value = this.#term(head, dot, variables);
    }
    for (const name of assigned) variables.set(name, value);
    return value;
  }

  #term(term: Term, dot: Value, variables: Variables): Value {
    if (term.is === 'value') return term.value;
    if (term.is === 'function') return functions[term.name]?.();
    if (term.is === 'group') return walk(this.#pipe(term.pipe, dot, variables), term.path);
    if (term.variable === undefined) return walk(dot, term.path);
    if (!variables.has(term.variable)) throw new TemplateError(`undefined variable ${JSON.stringify(term.variable)}`);
    return walk(variables.get(term.variable), term.path);
  }

  #write(piece: string): void {
    this.#size += piece.length;
    if (this.#size > maxOutput) throw new TemplateError('the template prints more than 256 MiB');
    this.out.push(piece);
  }
}

function walk(value: Value, path: readonly string[]): Value {
  let current = value;
  for (const name of path) {
    if (current === undefined || current === null) return undefined;
    if (!isJsonObject(current)) throw new TemplateError(`can't evaluate field ${name} in type ${typeof current}`);
    current = field(current, name);
  }
  return current;
}
