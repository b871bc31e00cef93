/** The parts that the expressions of configuration files share. */
import {
  type Budget,
  baseLibraries,
  CelError,
  type CelType,
  type CheckedExpression,
  checkInSteps,
  compileExpression,
  type Environment,
  ExpressionError,
  expressionLibraries,
  JsonMapValue,
  ListValue,
  type ObjectField,
  type ObjectType,
  ObjectValue,
  type Program,
  type ReadJson,
  type Value,
} from '../cel/index.ts';
import {
  atOnce,
  compatibleRelease,
  defaultFeatures,
  expressionTypes,
  isJsonObject,
  type Steps,
} from '../meta/index.ts';

/** The maximum cost of one expression, and of all that belong together. */
export const maxCost = 1_000_000;
export const maxTotalCost = 2_500_000;

/** The libraries of all expressions in configuration files. */
export const libraries = expressionLibraries(baseLibraries(defaultFeatures)).ofNew(compatibleRelease);

/** An expression that can be evaluated. */
export interface Expression {
  readonly source: string;
  readonly program: Program;
}

/** The expression with the results of its check, or why it is not valid. */
export function compileIn(
  environment: Environment,
  source: string,
): { readonly checked: CheckedExpression; readonly expression: Expression } | string {
  try {
    const checked = atOnce(checkInSteps(environment, source));
    return { checked, expression: { source, program: compileExpression(checked) } };
  } catch (thrown) {
    if (thrown instanceof ExpressionError) return `compilation failed: ${thrown.message}`;
    // A constant cannot be converted.
    if (thrown instanceof CelError) return `program instantiation failed: ${thrown.message}`;
    throw thrown;
  }
}

/** The value of an expression over one variable. @throws CelError, CostLimitError */
export function* evaluateInSteps({ program }: Expression, variable: Value, budget: Budget): Steps<Value> {
  return program.evaluateInSteps === undefined
    ? program.evaluate([variable], budget)
    : yield* program.evaluateInSteps([variable], budget);
}

/** An object type with the given fields, each of which may be absent. */
export function declaredType(name: string, types: { readonly [field: string]: CelType }): ObjectType {
  const fields = new Map<string, ObjectField>(
    Object.entries(types).map(([property, type]) => [property, { type, property, read: readerOf(type) }]),
  );
  return {
    kind: 'object',
    name: `${expressionTypes}.${name}`,
    field: (identifier) => fields.get(identifier),
    identifiers: () => fields.keys(),
  };
}

const readText: ReadJson = (json) => json as string;
const readTexts: ReadJson = (json) => new ListValue(Array.isArray(json) ? json : [], readText);

/** Reads JSON of the types of declared fields: texts, objects, maps of lists of texts, and lists of texts or objects. */
function readerOf(type: CelType): ReadJson {
  if (type.kind === 'object') return (json) => new ObjectValue(type as ObjectType, isJsonObject(json) ? json : {});
  if (type.kind === 'map') return (json) => new JsonMapValue(isJsonObject(json) ? json : {}, readTexts);
  if (type.kind !== 'list') return readText;
  if (type.element.kind === 'string') return readTexts;
  const read = readerOf(type.element);
  return (json) => new ListValue(Array.isArray(json) ? json : [], read);
}
