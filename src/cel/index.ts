/** The expression language (CEL): parse, check, estimate, evaluate, and the function libraries. */
export type { Issue } from './ast.ts';
export type { CheckedExpression, Environment, EnvironmentOptions, Variable } from './environment.ts';
export type { CallEstimate, EstimatedArgument, Library, Overload, Range } from './library.ts';
export * from './types.ts';
export * from './values.ts';
