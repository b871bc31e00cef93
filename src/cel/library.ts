/** Libraries as data: their functions, implementations and costs. */
import type { Steps } from '../meta/index.ts';
import type { Call, Expr, Issue } from './ast.ts';
import type { ParseOptions } from './syntax/parse.ts';
import type { CelType, LiteralObjectType } from './types.ts';
import type { Value } from './values.ts';

/** An inclusive range of costs or sizes; `max` is at most 2^64 - 1, as a number (`Infinity` is not used). */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** An argument of a call in cost estimation. */
export interface EstimatedArgument {
  /** The range of its size (code points, bytes, elements, entries); 0 to 2^64-1 where nothing is known. */
  readonly size: Range;
  readonly type: CelType;
  /** The value of a constant argument. */
  readonly literal: Value | undefined;
  /** The size of the elements of a list whose declared type bounds them. */
  readonly elementSize: Range | undefined;
}

export interface CallEstimate {
  readonly cost: Range;
  /** The size of the result if the argument sizes bound it. */
  readonly resultSize?: Range;
}

/** One signature of a function. */
export interface Overload {
  /** `size_string`. */
  readonly id: string;
  /** The receiver of a member function first. */
  readonly args: readonly CelType[];
  readonly result: CelType;
  /** Whether the function is called as `a.f(b)` instead of `f(a, b)`. */
  readonly member?: boolean;
  /** @throws CelError */
  readonly call: (...args: Value[]) => Value;
  /** Whether list arguments are read in steps before a call, which accesses all their elements. */
  readonly readsLists?: boolean;
  /** The call in steps, for functions that may run longer than one step. */
  readonly steps?: (...args: Value[]) => Steps<Value>;
  /**
   * Returns the cost of a call in cost units; 1 by default. The result of a failed call is null. A function with one
   * parameter does not depend on the result, and runs once for each call.
   */
  readonly cost?: (args: readonly Value[], result: Value) => number;
  /** Estimates the cost of a call beyond that of its arguments; 1 by default. */
  readonly estimate?: (args: readonly EstimatedArgument[]) => CallEstimate;
  /** Checks the constant arguments of a call when the expression is compiled; others are undefined. @throws CelError */
  readonly checkConstants?: (args: readonly (Value | undefined)[]) => void;
  /** Returns the issues of a call with literal arguments, once the expression has no other issue. */
  readonly validate?: (call: Call, typeOf: (expr: Expr) => CelType) => readonly Issue[];
}

export interface Library {
  readonly name: string;
  /** By function name. A library may add overloads to functions of other libraries. */
  readonly functions: { readonly [name: string]: readonly Overload[] };
  /** Types that expressions can name (`type(x) == url`), by name. */
  readonly types?: { readonly [name: string]: CelType };
  /** Returns the type of a name that cannot be listed. */
  readonly typeOfName?: (name: string) => LiteralObjectType | undefined;
  /** The syntax that the library adds to expressions. */
  readonly syntax?: ParseOptions;
}
