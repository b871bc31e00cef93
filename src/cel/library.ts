/** Libraries as data: what functions there are, what they compute, and what that costs. */
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
  /** The constant, where it is one. */
  readonly literal: Value | undefined;
  /** The size of its elements, where it is a list whose declared type bounds them. */
  readonly elementSize: Range | undefined;
}

export interface CallEstimate {
  readonly cost: Range;
  /** The size of the result, where the argument sizes bound it. */
  readonly resultSize?: Range;
}

/** One signature of a function. */
export interface Overload {
  /** `size_string`. */
  readonly id: string;
  /** The receiver of a member function first. */
  readonly args: readonly CelType[];
  readonly result: CelType;
  /** Called as `a.f(b)`; otherwise `f(a, b)`. */
  readonly member?: boolean;
  /** @throws CelError */
  readonly call: (...args: Value[]) => Value;
  /** Lists are read in steps before a call, which looks at all their elements. */
  readonly readsLists?: boolean;
  /** The same in steps, where a call may take longer than a step should. */
  readonly steps?: (...args: Value[]) => Steps<Value>;
  /** What a call costs, in cost units; default 1. The result of a call that failed is null. */
  readonly cost?: (args: readonly Value[], result: Value) => number;
  /** What a call may cost, beyond its arguments; default 1. */
  readonly estimate?: (args: readonly EstimatedArgument[]) => CallEstimate;
  /** What is wrong with a call as its literals show, once the expression has no other issue. */
  readonly validate?: (call: Call, typeOf: (expr: Expr) => CelType) => readonly Issue[];
}

export interface Library {
  readonly name: string;
  /** By function name. Libraries may add overloads to functions of others. */
  readonly functions: { readonly [name: string]: readonly Overload[] };
  /** Types that are named in expressions (`type(x) == url`), by name. */
  readonly types?: { readonly [name: string]: CelType };
  /** The types of names that cannot be listed. */
  readonly typeOfName?: (name: string) => LiteralObjectType | undefined;
  /** What it adds to the syntax of expressions. */
  readonly syntax?: ParseOptions;
}
