/** The expression language (CEL): parse, check, estimate, evaluate, and the function libraries. */
export type { Issue } from './ast.ts';
export { baseLibraries } from './base-libraries.ts';
export { check } from './check/check.ts';
export { createEnvironment } from './check/environment.ts';
export { ExpressionError } from './check/error.ts';
export { librariesOfNew, librariesOfStored, type Release, type VersionedLibrary } from './check/versions.ts';
export { estimateCost } from './cost/estimate.ts';
export type { CheckedExpression, Environment, EnvironmentOptions, Variable } from './environment.ts';
export { MapListValue, SetListValue } from './evaluate/associative-lists.ts';
export { Budget } from './evaluate/budget.ts';
export { compileExpression, type Program } from './evaluate/compile.ts';
export { valuesEqual } from './evaluate/equality.ts';
export { AuthorizerValue, authorizerType, ResourceCheckValue, resourceCheckType } from './library/authorizer.ts';
export {
  type AccessAttributes,
  type AccessDecision,
  type Decide,
  type DecisionOptions,
  evaluateWithDecisions,
  type KnownDecisions,
  PendingDecision,
} from './library/decisions.ts';
export { optionalsLibrary } from './library/optionals.ts';
export { standardLibrary } from './library/standard.ts';
export { twoVariablesLibrary } from './library/two-variables.ts';
export { kubeLibraries } from './library/versions.ts';
export type { CallEstimate, EstimatedArgument, Library, Overload, Range } from './library.ts';
export { compileRegex } from './regex.ts';
export * from './types.ts';
export * from './values.ts';
