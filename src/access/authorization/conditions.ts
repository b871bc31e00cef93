/** The match conditions of authorization webhooks: which requests they are asked about. */
import {
  Budget,
  boolType,
  CelError,
  CostLimitError,
  createEnvironment,
  listType,
  mapType,
  type ObjectType,
  ObjectValue,
  stringType,
  typeName,
} from '../../cel/index.ts';
import { aggregateMessages, inTurns, isJsonObject, type JsonObject, type Steps, type Turns } from '../../meta/index.ts';
import {
  compileIn,
  declaredType,
  type Expression,
  evaluateInSteps,
  libraries,
  maxCost,
  maxTotalCost,
} from '../expressions.ts';

export type Condition = Expression;

const texts = listType(stringType);
const requirement = declaredType('SelectorRequirement', { key: stringType, operator: stringType, values: texts });
const selector = (name: string): ObjectType =>
  declaredType(name, { rawSelector: stringType, requirements: listType(requirement) });

const specType = declaredType('SubjectAccessReviewSpec', {
  resourceAttributes: declaredType('ResourceAttributes', {
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
  nonResourceAttributes: declaredType('NonResourceAttributes', { path: stringType, verb: stringType }),
  user: stringType,
  groups: texts,
  extra: mapType(stringType, texts),
  uid: stringType,
});

const environment = createEnvironment({ variables: [{ name: 'request', type: specType }], libraries });

/** The condition of an expression, or what is wrong with it. */
export function compileCondition(source: string): Condition | string {
  const compiled = compileIn(environment, source);
  if (typeof compiled === 'string') return compiled;
  const type = typeName(compiled.checked.type);
  if (type !== typeName(boolType)) return `must evaluate to ${typeName(boolType)} but got ${type}`;
  return compiled.expression;
}

const noSubject: JsonObject = { user: '', uid: '', groups: [], extra: {} };
const noPath: JsonObject = { path: '', verb: '' };
const noPlace: JsonObject = {
  namespace: '',
  verb: '',
  group: '',
  version: '',
  resource: '',
  subresource: '',
  name: '',
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
  let remainingCost = maxTotalCost;
  for (const condition of conditions) {
    const budget = new Budget(maxCost);
    try {
      if ((yield* evaluateInSteps(condition, request, budget)) === false) return exclusion;
    } catch (thrown) {
      if (!(thrown instanceof CelError || thrown instanceof CostLimitError)) throw thrown;
      failures.push(`cel evaluation error: expression '${condition.source}' resulted in error: ${thrown.message}`);
    }
    remainingCost -= maxCost - budget.remaining;
    if (remainingCost < 0)
      return { outcome: 'error', message: 'the match conditions exceed their cost limit together' };
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
