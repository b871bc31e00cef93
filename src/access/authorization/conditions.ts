/** The match conditions of authorization webhooks: which requests they are asked about. */
import {
  Budget,
  baseLibraries,
  boolType,
  CelError,
  type CelType,
  CostLimitExceeded,
  checkInSteps,
  compileExpression,
  createEnvironment,
  ExpressionError,
  JsonMapValue,
  ListValue,
  librariesOfNew,
  listType,
  mapType,
  type ObjectField,
  type ObjectType,
  ObjectValue,
  type Program,
  type ReadJson,
  stringType,
  typeName,
} from '../../cel/index.ts';
import {
  aggregateMessages,
  atOnce,
  defaultFeatures,
  expressionTypes,
  inTurns,
  isJsonObject,
  type JsonObject,
  type Steps,
  type Turns,
} from '../../meta/index.ts';

/** What one condition, and what all conditions of a webhook, may cost for a request. */
const maxCost = 1_000_000;
const maxTotalCost = 2_500_000;

export interface Condition {
  readonly source: string;
  readonly program: Program;
}

const readText: ReadJson = (json) => json as string;
const texts = listType(stringType);
const readTexts: ReadJson = (json) => new ListValue(Array.isArray(json) ? json : [], readText);

const readerOf = (type: CelType): ReadJson => {
  if (type.kind === 'object') return (json) => new ObjectValue(type as ObjectType, isJsonObject(json) ? json : {});
  if (type.kind === 'map') return (json) => new JsonMapValue(isJsonObject(json) ? json : {}, readTexts);
  if (type.kind !== 'list') return readText;
  if (type.element.kind === 'string') return readTexts;
  const read = readerOf(type.element);
  return (json) => new ListValue(Array.isArray(json) ? json : [], read);
};

/** A type of the fields of a review, each of which may be absent. */
function declared(name: string, types: { readonly [field: string]: CelType }): ObjectType {
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

const requirement = declared('SelectorRequirement', { key: stringType, operator: stringType, values: texts });
const selector = (name: string): ObjectType =>
  declared(name, { rawSelector: stringType, requirements: listType(requirement) });

const specType = declared('SubjectAccessReviewSpec', {
  resourceAttributes: declared('ResourceAttributes', {
    namespace: stringType,
    verb: stringType,
    group: stringType,
    version: stringType,
    resource: stringType,
    subresource: stringType,
    name: stringType,
    fieldSelector: selector('FieldSelectorAttributes'),
    labelSelector: selector('LabelSelectorAttributes'),
  }),
  nonResourceAttributes: declared('NonResourceAttributes', { path: stringType, verb: stringType }),
  user: stringType,
  groups: texts,
  extra: mapType(stringType, texts),
  uid: stringType,
});

const environment = createEnvironment({
  variables: [{ name: 'request', type: specType }],
  libraries: librariesOfNew(baseLibraries(defaultFeatures)),
});

/** The condition of an expression, or what is wrong with it. */
export function compileCondition(source: string): Condition | string {
  try {
    const checked = atOnce(checkInSteps(environment, source));
    const type = typeName(checked.type);
    if (type !== typeName(boolType)) return `must evaluate to ${typeName(boolType)} but got ${type}`;
    return { source, program: compileExpression(checked) };
  } catch (thrown) {
    if (thrown instanceof ExpressionError) return `compilation failed: ${thrown.message}`;
    // A constant cannot be converted.
    if (thrown instanceof CelError) return `program instantiation failed: ${thrown.message}`;
    throw thrown;
  }
}

const noSubject: JsonObject = { user: '', uid: '', groups: [], extra: {} };
const noPath: JsonObject = { path: '', verb: '' };
const noPlace: JsonObject = {
  ...{ namespace: '', verb: '', group: '', version: '' },
  ...{ resource: '', subresource: '', name: '' },
};

/** The review as conditions see it: texts, groups and extra are never absent, attributes and selectors may be. */
function completed({ resourceAttributes, nonResourceAttributes, ...subject }: JsonObject): JsonObject {
  return {
    ...noSubject,
    ...subject,
    ...(isJsonObject(resourceAttributes ?? null)
      ? { resourceAttributes: { ...noPlace, ...(resourceAttributes as JsonObject) } }
      : { nonResourceAttributes: { ...noPath, ...(nonResourceAttributes as JsonObject) } }),
  };
}

/** Whether a webhook is asked; an error: why that is not known. */
export type Match =
  | { readonly outcome: 'match' | 'exclusion' }
  | { readonly outcome: 'error'; readonly message: string };

const match: Match = { outcome: 'match' };
const exclusion: Match = { outcome: 'exclusion' };

/** Whether all conditions are true of a review. One that is false decides, whatever others fail. */
export function* matchInSteps(conditions: readonly Condition[], spec: JsonObject): Steps<Match> {
  const request = new ObjectValue(specType, completed(spec));
  const failures: string[] = [];
  let left = maxTotalCost;
  for (const { source, program } of conditions) {
    const budget = new Budget(maxCost);
    try {
      const { evaluateInSteps } = program;
      const value =
        evaluateInSteps === undefined ? program.evaluate([request], budget) : yield* evaluateInSteps([request], budget);
      if (value === false) return exclusion;
    } catch (thrown) {
      if (!(thrown instanceof CelError || thrown instanceof CostLimitExceeded)) throw thrown;
      failures.push(`cel evaluation error: expression '${source}' resulted in error: ${thrown.message}`);
    }
    left -= maxCost - budget.remaining;
    if (left < 0) return { outcome: 'error', message: 'the match conditions exceed their cost limit together' };
  }
  return failures.length === 0 ? match : { outcome: 'error', message: aggregateMessages(failures) };
}

/** The same. A promise only where it takes more than a step. */
export function matches(
  conditions: readonly Condition[],
  spec: JsonObject,
  turns: () => Turns,
): Match | Promise<Match> {
  if (conditions.length === 0) return match;
  const steps = matchInSteps(conditions, spec);
  const { done, value } = steps.next();
  return done === true ? value : inTurns(steps, turns());
}
