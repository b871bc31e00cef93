/** The declarations against which expressions are checked. Environments are created once and shared. */
import type { Expr, LiteralValue } from './ast.ts';
import type { Library, Overload } from './library.ts';
import type { ParseOptions } from './syntax/parse.ts';
import type { CelType, LiteralObjectType } from './types.ts';

export interface EnvironmentOptions {
  /** The variables, in the order of their slots: `evaluate` takes their values in this order. */
  readonly variables: readonly Variable[];
  readonly libraries: readonly Library[];
  /** The namespace in which names are resolved; empty: the root. */
  readonly container?: string;
}

export interface Variable {
  readonly name: string;
  readonly type: CelType;
}

export interface Environment {
  readonly variables: ReadonlyMap<string, { readonly slot: number; readonly type: CelType }>;
  /** All overloads by function name. */
  readonly functions: ReadonlyMap<string, readonly Overload[]>;
  readonly types: ReadonlyMap<string, CelType>;
  /** Returns the type of a name that cannot be listed. Called for names that are neither variables nor other types. */
  readonly typeOfName: (name: string) => LiteralObjectType | undefined;
  /** The syntax that its libraries add. */
  readonly syntax: ParseOptions;
  readonly container: string;
}

/** An expression with the results of type checking. */
export interface CheckedExpression {
  readonly source: string;
  readonly environment: Environment;
  readonly expr: Expr;
  readonly type: CelType;
  /** By the id of the node. */
  readonly typeOf: readonly (CelType | undefined)[];
  readonly referenceOf: readonly (Reference | undefined)[];
  /** The names of the declared variables that the expression uses. */
  readonly variables: ReadonlySet<string>;
}

/** The declaration that a node refers to. Local variables of comprehensions have no reference. */
export type Reference =
  /** A declared variable; a select may be a qualified name. */
  | { readonly kind: 'variable'; readonly name: string; readonly slot: number }
  /** A type as a value, or a constant. */
  | { readonly kind: 'type'; readonly type: CelType }
  | { readonly kind: 'constant'; readonly value: LiteralValue }
  /** The candidates of a call: one when the argument types decide, else all that may match at run time. A qualified
   * function (`math.greatest`) has its target resolved away. */
  | { readonly kind: 'function'; readonly overloads: readonly Overload[]; readonly qualified: boolean };
