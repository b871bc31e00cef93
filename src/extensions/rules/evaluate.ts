/** Validation of objects by the rules of their schema. */
import { Budget, CelError, CostLimitError, OptionalValue, type Program, type Value } from '../../cel/index.ts';
import {
  type FieldError,
  fieldError,
  fieldErrors,
  getKey,
  isJsonObject,
  type Json,
  maxErrors,
  maxErrorText,
  omitted,
  quote,
  type Steps,
} from '../../meta/index.ts';
import type { Correlation } from '../objects/correlation.ts';
import type { Rule, Structural } from '../structural.ts';
import { type PlanNode, type PlannedNode, type PlannedRule, planOf } from './plan.ts';

/** The maximum cost of one evaluation of an expression. */
const maxCallCost = 1_000_000;
/** The maximum cost of all evaluations for an object. */
export const maxObjectCost = 10_000_000;
/** The cost after which other work gets a turn: a millisecond or so. */
const maxTurnCost = 20_000;
/** The fixed time of any evaluation, in addition to its cost. */
const callCost = 50;
/** Of the result of a messageExpression, in bytes. */
const maxMessage = 5 * 1024;

export interface RuleOptions {
  /** The path of the value; empty: the root of an object. */
  readonly path?: string;
  /** A rule that fails for an unchanged value is a warning: its text is passed here. Absent: it is an error. */
  readonly warn?: (text: string) => void;
  /** The budget of all evaluations; default: that of an object. */
  readonly budget?: Budget;
}

/** Validates a value by the rules. In an update it comes with its correlation. In steps: rules may take long. */
export type RuleValidator = (
  value: Json,
  correlation: Correlation | undefined,
  options?: RuleOptions,
) => Steps<FieldError[]>;

/** The validator of the rules of a schema; undefined when it has none. Rules are compiled when they are first needed. */
export function ruleValidator(structural: Structural, isResource = true): RuleValidator | undefined {
  if (!structural.has.rules) return undefined;
  return function* (value, correlation, { path = '', warn, budget = new Budget(maxObjectCost) } = {}) {
    const run = new Run(warn, budget);
    const plan = planOf(structural, isResource);
    if (plan !== undefined) yield* run.validate(plan, { path, value, correlation, nearest: undefined });
    return run.errors;
  };
}

/** Errors after which rules are not evaluated. */
const blocking = new Set<FieldError['reason']>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** The error in place of those of the rules, when other errors leave nothing for the rules to rely on. */
export function rulesNotChecked(errors: readonly FieldError[]): FieldError[] {
  if (!errors.some(({ reason }) => blocking.has(reason))) return [];
  const why =
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
  return [fieldError.invalid('<nil>', null, why)];
}

interface Place {
  readonly path: string;
  readonly value: Json;
  /** Undefined without an old value. */
  readonly correlation: Correlation | undefined;
  /** Of the nearest value around it that has an old value. */
  readonly nearest: Correlation | undefined;
}

/** Whether the value is the one before the update, or is in one that is. */
function* isUnchanged({ path, correlation, nearest }: Place): Steps<boolean> {
  // Both were converted to the same type before they were compared.
  if (path === 'apiVersion' || path === 'kind') return false;
  const knownCorrelation = correlation ?? nearest;
  return knownCorrelation !== undefined && (yield* knownCorrelation.isUnchanged());
}

const childPath = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/** The validation of one object: its errors, and what it may still cost. */
class Run {
  readonly errors: FieldError[] = [];
  readonly #warn: ((text: string) => void) | undefined;
  readonly #budget: Budget;
  /** The cost since other work got a turn. */
  #turn = 0;
  #warnings = 0;
  /** Characters in all errors. */
  #text = 0;

  constructor(warn: ((text: string) => void) | undefined, budget: Budget) {
    this.#warn = warn;
    this.#budget = budget;
  }

  #add(error: FieldError): void {
    this.errors.push(error);
    this.#text += error.message.length;
  }

  /** Validates a value and all below; returns false when nothing more may be evaluated. */
  *validate(node: PlanNode, place: Place): Steps<boolean> {
    const { path, value, correlation } = place;
    if (value === null) return true;
    if (node.hasRules && !(yield* this.#evaluate(node, place))) return false;
    if (Array.isArray(value)) return yield* this.#items(node, value, place);
    const { properties, values } = node;
    if (!isJsonObject(value)) return true;
    const nearest = correlation ?? place.nearest;
    for (const [name, property] of properties) {
      const inner = getKey(value, name);
      if (inner === undefined) continue;
      const at = { path: childPath(path, name), value: inner, correlation: correlation?.key(name), nearest };
      if (!(yield* this.validate(property, at))) return false;
    }
    if (values === undefined) return true;
    for (const [name, inner] of Object.entries(value)) {
      const at = { path: `${path}[${name}]`, value: inner, correlation: correlation?.key(name), nearest };
      if (!(yield* this.validate(values, at))) return false;
    }
    return true;
  }

  *#items({ items }: PlanNode, list: readonly Json[], place: Place): Steps<boolean> {
    if (items === undefined) return true;
    const { path, correlation } = place;
    const nearest = correlation ?? place.nearest;
    for (const [i, value] of list.entries()) {
      const item = { path: `${path}[${i}]`, value, correlation: correlation?.index(i), nearest };
      if (!(yield* this.validate(items, item))) return false;
    }
    return true;
  }

  *#evaluate(node: PlanNode, place: Place): Steps<boolean> {
    const field = place.path === '' ? '<nil>' : place.path;
    const { type } = node.structural;
    if (this.#budget.remaining <= 0) {
      this.#add(fieldError.invalid(field, type, outOfBudget));
      return false;
    }
    const compiled = node.compiled ?? (yield* node.compile());
    const variables = new Variables(compiled, place);
    for (const rule of compiled.rules) {
      if (rule.error !== undefined) {
        this.#add(fieldError.invalid(field, type, `rule compile error: ${rule.error}`));
        continue;
      }
      const { optionalOldSelf } = rule.rule;
      if (rule.usesOldSelf && (place.correlation?.old ?? null) === null && optionalOldSelf !== true) continue;
      if (rule.program === undefined) continue;
      const before = this.#budget.remaining;
      if (!(yield* this.#rule(rule, rule.program, node.structural, place, variables))) return false;
      this.#turn += before - this.#budget.remaining + callCost;
      if (this.#turn < maxTurnCost) continue;
      this.#turn = 0;
      yield;
    }
    return this.errors.length < maxErrors && this.#text < maxErrorText;
  }

  *#rule(
    compiled: PlannedRule,
    program: Program,
    { type }: Structural,
    place: Place,
    variables: Variables,
  ): Steps<boolean> {
    const { rule } = compiled;
    const field = place.path === '' ? '<nil>' : place.path;
    const { value, failure, exceeded, cost } = yield* call(program, () => variables.of(compiled));
    const stop = (why: string): boolean => {
      this.#add(fieldError.invalid(field, type, why));
      return false;
    };
    if (cost > this.#budget.remaining) return stop(outOfBudget);
    this.#budget.remaining -= cost;
    if (exceeded !== undefined) {
      return stop(
        `'${exceeded}': no further validation rules will be run due to call cost exceeds limit for rule: ${nameOf(rule)}`,
      );
    }
    if (failure !== undefined) {
      const why = failure.startsWith('no such overload')
        ? `'${failure}': call arguments did not match a supported operator, function or macro signature for rule: ${nameOf(rule)}`
        : `${failure} evaluating rule: ${nameOf(rule)}`;
      this.#add(fieldError.invalid(field, type, why));
      return true;
    }
    return value === true || (yield* this.#fail(compiled, type, place, variables));
  }

  /** Adds the error of a rule that does not hold. */
  *#fail(compiled: PlannedRule, type: Structural['type'], place: Place, variables: Variables): Steps<boolean> {
    const { rule, fieldPath } = compiled;
    const at = fieldPath === '' ? place.path : childPath(place.path, fieldPath);
    const field = at === '' ? '<nil>' : at;
    const isError = this.#warn === undefined || compiled.usesOldSelf || !(yield* isUnchanged(place));
    const add = (make: () => FieldError): void => {
      if (isError) {
        this.#add(make());
        return;
      }
      if (this.#warnings++ >= maxErrors) return;
      for (const error of fieldErrors(() => [make()])) this.#warn?.(`${error.field}: ${error.message}`);
    };
    const message = yield* this.#message(compiled, variables);
    if ('stop' in message) {
      add(() => fieldError.invalid(field, type, message.stop));
      return false;
    }
    const detail = message.text ?? (rule.message === '' ? `failed rule: ${nameOf(rule)}` : rule.message.trim());
    add(() => errorFor(rule.reason, field, type === 'object' || type === 'array' ? omitted : place.value, detail));
    return true;
  }

  /** The result of the messageExpression, undefined where it has no usable one; or why nothing more is evaluated. */
  *#message(
    compiled: PlannedRule,
    variables: Variables,
  ): Steps<{ readonly text: string | undefined } | { readonly stop: string }> {
    if (compiled.message === undefined) return { text: undefined };
    const { value, exceeded, cost } = yield* call(compiled.message, () => variables.of(compiled));
    if (cost > this.#budget.remaining) return { stop: `messageExpression evaluation failed due to ${runningOut}` };
    if (exceeded !== undefined) {
      const source = quote(compiled.rule.messageExpression);
      return {
        stop: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}`,
      };
    }
    this.#budget.remaining -= cost;
    const text = typeof value === 'string' ? value.trim() : '';
    return { text: text === '' || text.includes('\n') || Buffer.byteLength(text) > maxMessage ? undefined : text };
  }
}

const runningOut = 'running out of cost budget, no further validation rules will be run';
const outOfBudget = `validation failed due to ${runningOut}`;

/** A rule as errors name it. */
const nameOf = ({ message, rule }: Rule): string => (message === '' ? rule : message).trim();

function errorFor(reason: string | undefined, field: string, value: Json | typeof omitted, detail: string): FieldError {
  if (reason === 'FieldValueForbidden') return fieldError.forbidden(field, detail);
  if (reason === 'FieldValueRequired') return fieldError.required(field, detail);
  if (reason === 'FieldValueDuplicate') return fieldError.duplicate(field, value);
  return fieldError.invalid(field, value, detail);
}

/** The values of `self` and `oldSelf`, read on first use. */
class Variables {
  readonly #compiled: PlannedNode;
  readonly #place: Place;
  #self: Value | undefined;
  #old: Value | undefined;

  constructor(compiled: PlannedNode, place: Place) {
    this.#compiled = compiled;
    this.#place = place;
  }

  /** In the order of their slots. @throws CelError for JSON of the wrong type */
  of({ usesOldSelf, rule }: PlannedRule): Value[] {
    this.#self ??= this.#compiled.read(this.#place.value);
    if (!usesOldSelf) return [this.#self, null];
    const old = this.#place.correlation?.old ?? null;
    if (old !== null) this.#old ??= this.#compiled.read(old);
    return [this.#self, rule.optionalOldSelf === true ? new OptionalValue(this.#old) : (this.#old ?? null)];
  }
}

/** The outcome of an evaluation: a value, a failure, or that it cost too much. */
interface Outcome {
  readonly value?: Value;
  readonly failure?: string;
  readonly exceeded?: string;
  readonly cost: number;
}

function* call(program: Program, values: () => readonly Value[]): Steps<Outcome> {
  const { evaluateInSteps } = program;
  const budget = new Budget(maxCallCost);
  const costs = () => maxCallCost - budget.remaining;
  try {
    const value =
      evaluateInSteps === undefined ? program.evaluate(values(), budget) : yield* evaluateInSteps(values(), budget);
    return { value, cost: costs() };
  } catch (thrown) {
    if (thrown instanceof CelError) return { failure: thrown.message, cost: costs() };
    if (thrown instanceof CostLimitError) return { exceeded: thrown.message, cost: costs() };
    throw thrown;
  }
}
