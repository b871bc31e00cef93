import {
  type Call,
  type Comprehension,
  childrenOf,
  type Expr,
  type FieldEntry,
  type Identifier,
  type Issue,
  type ListLiteral,
  type Literal,
  type LiteralValue,
  type MapEntry,
  type Select,
} from '../ast.ts';

/** How deep expressions nest; operators, selections, member calls and indexes count along each path of the tree. */
export const maxDepth = 250;
/** The number of nodes of a tree. Macros copy their operands, so that a short source could make a huge tree. */
const maxNodes = 250_000;
/** The depth of a tree, which macros add to: passes over trees call themselves for each level. */
const maxTreeDepth = 1000;

/** Ends parsing because a limit is exceeded. */
export class ParseLimitError extends Error {
  readonly issue: Issue;
  constructor(message: string, offset = -1) {
    super(message);
    this.issue = { offset, message };
  }
}

const none: ReadonlySet<number> = new Set();

/** Makes the nodes of one tree and collects the issues of their contents. */
export class Nodes {
  readonly issues: Issue[] = [];
  #count = 0;

  #id(): number {
    if (this.#count === maxNodes) throw new ParseLimitError(`expression node limit exceeded: ${maxNodes}`);
    return ++this.#count;
  }

  /** Reports an issue and gives a node in place of the one that has it. */
  invalid(offset: number, message: string): Expr {
    this.issues.push({ offset, message });
    return this.literal(offset, { type: 'null' });
  }

  literal(offset: number, value: LiteralValue): Literal {
    return { id: this.#id(), offset, kind: 'literal', value };
  }

  identifier(offset: number, name: string): Identifier {
    return { id: this.#id(), offset, kind: 'identifier', name };
  }

  select(offset: number, operand: Expr, field: string, test = false): Select {
    return { id: this.#id(), offset, kind: 'select', operand, field, test };
  }

  call(offset: number, name: string, args: readonly Expr[], target?: Expr): Call {
    return { id: this.#id(), offset, kind: 'call', function: name, target, args };
  }

  list(offset: number, elements: readonly Expr[], optional = none): ListLiteral {
    return { id: this.#id(), offset, kind: 'list', elements, optional };
  }

  map(offset: number, entries: readonly MapEntry[]): Expr {
    return { id: this.#id(), offset, kind: 'map', entries };
  }

  mapEntry(offset: number, key: Expr, value: Expr, optional: boolean): MapEntry {
    return { id: this.#id(), offset, key, value, optional };
  }

  object(offset: number, name: string, entries: readonly FieldEntry[]): Expr {
    return { id: this.#id(), offset, kind: 'object', name, entries };
  }

  fieldEntry(offset: number, field: string, value: Expr, optional: boolean): FieldEntry {
    return { id: this.#id(), offset, field, value, optional };
  }

  comprehension(offset: number, parts: Omit<Comprehension, 'id' | 'offset' | 'kind'>): Comprehension {
    return { id: this.#id(), offset, kind: 'comprehension', ...parts };
  }

  /** @throws ParseLimitError for a tree that is too deep */
  limitDepth(expr: Expr): void {
    if (this.#count > maxTreeDepth) limitDepth(expr, 1);
  }

  /** Returns a copy of a tree with new ids. */
  copy(expr: Expr): Expr {
    this.limitDepth(expr);
    return this.#copy(expr);
  }

  #copy(expr: Expr): Expr {
    const id = this.#id();
    const all = (list: readonly Expr[]): Expr[] => list.map((one) => this.#copy(one));
    switch (expr.kind) {
      case 'literal':
      case 'identifier':
        return { ...expr, id };
      case 'select':
        return { ...expr, id, operand: this.#copy(expr.operand) };
      case 'call':
        return { ...expr, id, target: expr.target && this.#copy(expr.target), args: all(expr.args) };
      case 'list':
        return { ...expr, id, elements: all(expr.elements) };
      case 'map': {
        const entries = expr.entries.map(({ offset, key, value, optional }) =>
          this.mapEntry(offset, this.#copy(key), this.#copy(value), optional),
        );
        return { ...expr, id, entries };
      }
      case 'object': {
        const entries = expr.entries.map(({ offset, field, value, optional }) =>
          this.fieldEntry(offset, field, this.#copy(value), optional),
        );
        return { ...expr, id, entries };
      }
      case 'comprehension': {
        const range = this.#copy(expr.range);
        const initial = this.#copy(expr.initial);
        const condition = this.#copy(expr.condition);
        const step = this.#copy(expr.step);
        return { ...expr, id, range, initial, condition, step, result: this.#copy(expr.result) };
      }
    }
  }
}

function limitDepth(expr: Expr, depth: number): void {
  if (depth > maxTreeDepth) throw new ParseLimitError(`expression depth limit exceeded: ${maxTreeDepth}`);
  for (const child of childrenOf(expr)) limitDepth(child, depth + 1);
}
