/** The syntax tree of an expression. Macros are expanded by the parser. */

export type Expr = Literal | Identifier | Select | Call | ListLiteral | MapLiteral | ObjectLiteral | Comprehension;

interface Node {
  /** Unique in its tree, from 1; the checker's results are indexed by it. */
  readonly id: number;
  /** The offset in the source (code points) that messages point to; for operators that of the operator. */
  readonly offset: number;
}

/** A constant. */
export interface Literal extends Node {
  readonly kind: 'literal';
  readonly value: LiteralValue;
}

export type LiteralValue =
  | { readonly type: 'null' }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'int'; readonly value: bigint }
  | { readonly type: 'uint'; readonly value: bigint }
  | { readonly type: 'double'; readonly value: number }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'bytes'; readonly value: Uint8Array };

/** A name. With a leading dot it is resolved only at the root. */
export interface Identifier extends Node {
  readonly kind: 'identifier';
  readonly name: string;
}

/** `operand.field`, or with `test` the macro `has(operand.field)`. */
export interface Select extends Node {
  readonly kind: 'select';
  readonly operand: Expr;
  readonly field: string;
  readonly test: boolean;
}

/** A function or operator: `_+_`, `_?_:_`, `_[_]`, `!_`, `_?._`, `_[?_]`, `@in`, `@not_strictly_false`, `size`. */
export interface Call extends Node {
  readonly kind: 'call';
  readonly function: string;
  /** The receiver of a member call. */
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

export interface ListLiteral extends Node {
  readonly kind: 'list';
  readonly elements: readonly Expr[];
  /** The indexes of the elements written `?element`. */
  readonly optional: ReadonlySet<number>;
}

export interface MapEntry extends Node {
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}

export interface MapLiteral extends Node {
  readonly kind: 'map';
  readonly entries: readonly MapEntry[];
}

export interface FieldEntry extends Node {
  readonly field: string;
  readonly value: Expr;
  readonly optional: boolean;
}

/** `Name{field: value}`. */
export interface ObjectLiteral extends Node {
  readonly kind: 'object';
  readonly name: string;
  readonly entries: readonly FieldEntry[];
}

/** A fold over a list (its elements) or a map (its keys; with `second`, also its values; for a list, index and element). */
export interface Comprehension extends Node {
  readonly kind: 'comprehension';
  /** The expanded macro, which decides whether it compiles to a loop: `all`, `exists`, `exists_one`, `map`, `filter`, … */
  readonly macro: string;
  readonly variable: string;
  readonly second: string | undefined;
  readonly range: Expr;
  readonly accumulator: string;
  readonly initial: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

/** A problem of an expression. */
export interface Issue {
  /** In code points, from 0; -1 for an issue of the whole expression. */
  readonly offset: number;
  readonly message: string;
}

/** Returns the direct subexpressions of an expression. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'identifier':
      return [];
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case 'list':
      return expr.elements;
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case 'object':
      return expr.entries.map(({ value }) => value);
    case 'comprehension':
      return [expr.range, expr.initial, expr.condition, expr.step, expr.result];
  }
}
