/** Schemas of types: declared once, used to decode, prune, default, validate and document objects and configuration files. */
export { fieldName, fieldOf, fieldsOf, hasField, type Resolved, remember, resolve } from './access.ts';
export { isBase64 } from './base64.ts';
export { type CompiledType, compile, type Decoded, type Decoder } from './compile.ts';
export { type ConfigurationFormat, decodeConfiguration, versionedKinds } from './configuration.ts';
export {
  anyObject,
  anyValue,
  bool,
  bytes,
  double,
  duration,
  type EitherSchema,
  either,
  type Field,
  type FieldOptions,
  type Fields,
  field,
  type Infer,
  inline,
  int32,
  int64,
  intOrString,
  type LazySchema,
  type ListSchema,
  lazy,
  list,
  type MapSchema,
  map,
  microTime,
  named,
  type ObjectOf,
  quantity,
  type ScalarName,
  type ScalarSchema,
  type Schema,
  type StructSchema,
  shortList,
  string,
  struct,
  time,
  type Via,
} from './declare.ts';
export { suits } from './decode.ts';
export { dropGated, type GatedFields, gatedFields } from './gated.ts';
export { inspect } from './inspect.ts';
export { type Describe, openApiName, openApiSchemas, openApiSchemasInSteps } from './openapi.ts';
export { type DeclarativeRules, declarativeRules, validate, validateInSteps } from './validate.ts';
