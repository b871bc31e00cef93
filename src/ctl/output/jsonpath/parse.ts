/** Parses JSONPath templates: text with expressions in braces, as in `{.items[*].metadata.name}`. */
export type Step =
  | { readonly is: 'field'; readonly name: string }
  | { readonly is: 'fields'; readonly names: readonly string[] }
  | { readonly is: 'wildcard' }
  | { readonly is: 'recursive' }
  | { readonly is: 'indices'; readonly indices: readonly number[] }
  | {
      readonly is: 'slice';
      readonly start: number | undefined;
      readonly end: number | undefined;
      readonly step: number;
    }
  | { readonly is: 'filter'; readonly left: Operand; readonly operator: string; readonly right: Operand };

/** A side of a comparison: a path from the item or from the root, or a value. */
export type Operand =
  | { readonly is: 'path'; readonly fromRoot: boolean; readonly steps: readonly Step[] }
  | { readonly is: 'value'; readonly value: string | number | boolean }
  | { readonly is: 'nothing' };

export type Node =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'path'; readonly fromRoot: boolean; readonly steps: readonly Step[] }
  | { readonly is: 'range'; readonly path: Node; readonly body: readonly Node[] };

/** An error in a template. */
export class TemplateError extends Error {}

/** The maximum length of a template. */
export const maxTemplate = 64 * 1024;

/** @throws TemplateError */
export function parseJsonPath(template: string): Node[] {
  if (template.length > maxTemplate) throw new TemplateError('the template is longer than 64 KiB');
  const root: Node[] = [];
  const open: { path: Node; body: Node[] }[] = [];
  const add = (node: Node) => (open.at(-1)?.body ?? root).push(node);
  for (let at = 0; at < template.length; ) {
    const brace = template.indexOf('{', at);
    if (brace !== at) {
      add({ is: 'text', text: template.slice(at, brace < 0 ? undefined : brace) });
      if (brace < 0) break;
    }
    const end = endOfAction(template, brace + 1);
    const action = template.slice(brace + 1, end).trim();
    at = end + 1;
    const range = /^range\s+([\s\S]*)$/.exec(action);
    if (range !== null) open.push({ path: expression(range[1] ?? ''), body: [] });
    else if (action === 'end') {
      const closed = open.pop();
      if (closed === undefined) throw new TemplateError('not in range, nothing to end');
      add({ is: 'range', ...closed });
    } else for (const node of actionNodes(action)) add(node);
  }
  if (open.length > 0) throw new TemplateError('unterminated range');
  return root;
}

/** The index of the brace that ends an action; braces within quotes do not count. */
function endOfAction(template: string, start: number): number {
  let quote = '';
  for (let i = start; i < template.length; i++) {
    const character = template.charAt(i);
    if (quote !== '') {
      if (character === '\\') i++;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '}') return i;
    else if (character === '{') throw new TemplateError("unrecognized character in action: U+007B '{'");
  }
  throw new TemplateError('unclosed action');
}

/** An action is a quoted text, or paths one after the other. */
function actionNodes(action: string): Node[] {
  if (/^["']/.test(action)) {
    const reader = new PathReader(action);
    const text = reader.quoted();
    return [{ is: 'text', text }, ...(reader.isAtEnd ? [] : actionNodes(reader.rest.trim()))];
  }
  return action === '' ? [] : [expression(action)];
}

/** A path, as in `.spec.replicas`, `$.items[0]`, `@.name` or `items`. @throws TemplateError */
function expression(text: string): Node {
  const reader = new PathReader(text.trim());
  const path = reader.path();
  if (!reader.isAtEnd) throw new TemplateError(`unrecognized character in action: ${reader.rest.charAt(0)}`);
  return { is: 'path', ...path };
}

const nameCharacter = /[^\s.[\]{}()'",=<>!|&@$*?]/;

class PathReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  get rest(): string {
    return this.#text.slice(this.#at);
  }

  path(): { fromRoot: boolean; steps: Step[] } {
    const fromRoot = this.#take('$');
    if (!fromRoot) this.#take('@');
    const steps: Step[] = [];
    for (;;) {
      if (this.#take('..')) {
        steps.push({ is: 'recursive' });
        if (this.#is(nameCharacter)) steps.push({ is: 'field', name: this.#name() });
        else if (this.#take('*')) steps.push({ is: 'wildcard' });
      } else if (this.#take('.')) {
        if (this.#take('*')) steps.push({ is: 'wildcard' });
        else if (this.#is(nameCharacter) || this.#is(/\\/)) steps.push({ is: 'field', name: this.#name() });
      } else if (this.#take('[')) steps.push(this.#subscript());
      else if (steps.length === 0 && !fromRoot && this.#is(nameCharacter)) {
        steps.push({ is: 'field', name: this.#name() });
      } else return { fromRoot, steps };
    }
  }

  /** A text in single or double quotes with the escapes of JSON. */
  quoted(): string {
    const quote = this.#text.charAt(this.#at++);
    let out = '';
    for (; this.#at < this.#text.length; this.#at++) {
      const character = this.#text.charAt(this.#at);
      if (character === quote) {
        this.#at++;
        return out;
      }
      if (character === '\\') {
        const next = this.#text.charAt(++this.#at);
        out += { n: '\n', t: '\t', r: '\r' }[next] ?? next;
      } else out += character;
    }
    throw new TemplateError('unterminated quoted string');
  }

  #subscript(): Step {
    this.#spaces();
    if (this.#take('?(')) return this.#filter();
    if (this.#is(/["']/)) {
      const names = [this.quoted()];
      while (this.#takeComma()) names.push(this.quoted());
      this.#expect(']');
      return names.length === 1 ? { is: 'field', name: names[0] ?? '' } : { is: 'fields', names };
    }
    const end = this.#text.indexOf(']', this.#at);
    if (end < 0) throw new TemplateError('unterminated array');
    const inside = this.#text.slice(this.#at, end).trim();
    this.#at = end + 1;
    return subscriptOf(inside);
  }

  #filter(): Step {
    const left = this.#operand();
    this.#spaces();
    const [operator = ''] = /^(?:==|!=|<=|>=|<|>)/.exec(this.rest) ?? [];
    this.#at += operator.length;
    const right: Operand = operator === '' ? { is: 'nothing' } : this.#operand();
    this.#spaces();
    if (!this.#take(')')) throw new TemplateError('unterminated filter');
    this.#expect(']');
    return { is: 'filter', left, operator, right };
  }

  #operand(): Operand {
    this.#spaces();
    if (this.#is(/["']/)) return { is: 'value', value: this.quoted() };
    const [literal] = /^(?:-?\d+(?:\.\d+)?|true|false)(?=[\s)=<>!]|$)/.exec(this.rest) ?? [];
    if (literal === undefined) return { is: 'path', ...this.path() };
    this.#at += literal.length;
    return { is: 'value', value: JSON.parse(literal) as number | boolean };
  }

  /** A backslash escapes the next character, as in `.metadata.annotations.example\.com/a`. */
  #name(): string {
    let name = '';
    while (!this.isAtEnd && (this.#is(nameCharacter) || this.#is(/\\/))) {
      if (this.#is(/\\/)) this.#at++;
      name += this.#text.charAt(this.#at++);
    }
    return name;
  }

  #is(pattern: RegExp): boolean {
    return !this.isAtEnd && pattern.test(this.#text.charAt(this.#at));
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #takeComma(): boolean {
    this.#spaces();
    const taken = this.#take(',');
    this.#spaces();
    return taken;
  }

  #expect(text: string): void {
    this.#spaces();
    if (!this.#take(text)) throw new TemplateError('unterminated array');
  }

  #spaces(): void {
    while (this.#is(/\s/)) this.#at++;
  }
}

function subscriptOf(inside: string): Step {
  if (inside === '*') return { is: 'wildcard' };
  if (/^-?\d+(?:\s*,\s*-?\d+)*$/.test(inside)) return { is: 'indices', indices: inside.split(',').map(Number) };
  const slice = /^(-?\d*)\s*:\s*(-?\d*)(?:\s*:\s*(-?\d*))?$/.exec(inside);
  if (slice === null) throw new TemplateError(`invalid array index ${inside}`);
  const numberOf = (part: string | undefined) => (part === undefined || part === '' ? undefined : Number(part));
  const [start, end, step] = slice.slice(1).map(numberOf);
  return { is: 'slice', start, end, step: step ?? 1 };
}
