/** The expression language (CEL): parses, checks, estimates and evaluates expressions, with its function libraries. */
export { baseLibraries } from './base-libraries.ts';
export { checkInSteps } from './check/check.ts';
export { createEnvironment } from './check/environment.ts';
export { ExpressionError } from './check/error.ts';
export { typeName } from './check/format.ts';
export { checkNewInSteps, type ExpressionLibraries, expressionLibraries } from './check/versions.ts';
export { estimateCost } from './cost/estimate.ts';
export type { CheckedExpression, Environment, EnvironmentOptions } from './environment.ts';
export { MapListValue, SetListValue } from './evaluate/associative-lists.ts';
export { Budget } from './evaluate/budget.ts';
export { compileExpression, type Program } from './evaluate/compile.ts';
export { readsField } from './field-reads.ts';
export { identifierOf, propertyOf } from './identifiers.ts';
export { JsonLimit, jsonOf, readDyn } from './json.ts';
export { AuthorizerValue, authorizerType, ResourceCheckValue, resourceCheckType } from './library/authorizer.ts';
export {
  type AccessAttributes,
  type AccessDecision,
  type Decide,
  evaluateWithDecisions,
  type KnownDecisions,
} from './library/decisions.ts';
export { jsonPatchType, literalTypeMismatches, mutationLibrary, objectType } from './library/mutation.ts';
export { quantityType } from './library/quantity.ts';
export { semverLibrary } from './library/semver.ts';
export type { Library } from './library.ts';
export { compileRegex, maxKeptPatterns, type Regex, sizeOfPattern } from './regex.ts';
export {
  anyType,
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  type ObjectField,
  type ObjectType,
  optionalType,
  type SimpleType,
  stringType,
  timestampType,
} from './types.ts';
export {
  CelError,
  ConstructedValue,
  CostLimitError,
  Double,
  Duration,
  Interruption,
  intOf,
  JsonMapValue,
  ListValue,
  ObjectValue,
  OptionalValue,
  type ReadJson,
  Timestamp,
  type Value,
} from './values.ts';
