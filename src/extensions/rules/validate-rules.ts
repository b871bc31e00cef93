/** Validation of the rules of a definition: they compile, and their estimated cost is within the limits. */
import { estimateCost } from '../../cel/index.ts';
import { type FieldError, fieldError, type Json, type Names, type Release, type Steps } from '../../meta/index.ts';
import type { Rule, Structural } from '../structural.ts';
import { type CompiledRule, compileRule, type StoredExpressions } from './compile.ts';
import { excessText, factorOf, maxRuleCost, TotalCost, totalOf } from './cost.ts';
import { bindingOf } from './types.ts';

export interface RuleValidation {
  readonly names: Names;
  /** Whether the schema at a path, or one below, has errors: its rules are not compiled then. */
  readonly isInvalid: (path: string) => boolean;
  /** The expressions of the definition before an update. */
  readonly stored: StoredExpressions;
  /** The release in which other expressions must be valid. Default: `compatibleRelease`. */
  readonly compatible?: Release | undefined;
}

/** The position of a schema. */
interface Place {
  readonly path: string;
  readonly isResource: boolean;
  /** How many values of the schema an object has at most; undefined: any number. */
  readonly count: number | undefined;
  /** The outermost list around it whose items have no identity. */
  readonly uncorrelated: string | undefined;
}

/** Validates the rules of a structural schema that is valid itself. In steps: some for each rule. */
export function* validateRules(structural: Structural, path: string, validation: RuleValidation): Steps<FieldError[]> {
  const total = new TotalCost();
  const errors: FieldError[][] = [];
  const property = `${validation.names.extension}validations`;
  function* visit(node: Structural, place: Place): Steps<void> {
    if (!node.has.rules) return;
    const { count, uncorrelated } = place;
    const factor = factorOf(node);
    const inner = { count: count === undefined || factor === undefined ? undefined : count * factor, uncorrelated };
    const at = (child: Structural, part: string): Place => ({
      ...inner,
      path: `${place.path}.${part}`,
      isResource: child.embeddedResource,
    });
    const { additionalProperties: values, items } = node;
    if (values !== undefined && values !== true) yield* visit(values, at(values, 'additionalProperties'));
    for (const [name, child] of node.properties) yield* visit(child, at(child, `properties[${name}]`));
    if (items !== undefined) {
      const outermost = node.listType === 'map' ? uncorrelated : (uncorrelated ?? place.path);
      yield* visit(items, { ...at(items, 'items'), uncorrelated: outermost });
    }
    if (node.rules.length === 0 || validation.isInvalid(place.path)) return;
    errors.push(yield* validateNode(node, `${place.path}.${property}`, place, validation, total));
  }
  yield* visit(structural, { path, isResource: true, count: 1, uncorrelated: undefined });
  return [...errors.flat(), ...total.errors(path, property)];
}

function* validateNode(
  node: Structural,
  path: string,
  place: Place,
  validation: RuleValidation,
  total: TotalCost,
): Steps<FieldError[]> {
  const type = bindingOf(node, place.isResource, 'selfType')?.type;
  if (type === undefined) {
    const why =
      `internal error: failed to construct type information for ${validation.names.extension}validations rules: ` +
      'unable to convert structural schema to CEL declarations';
    return [fieldError.internal(path, why)];
  }
  const errors: FieldError[][] = [];
  for (const [i, rule] of node.rules.entries()) {
    const compiled = yield* compileRule(rule, node, type, validation.stored, validation.compatible);
    yield;
    const at = `${path}[${i}]`;
    const { expression, message } = compiled;
    const cost = expression === undefined ? 0 : totalOf(estimateCost(expression.checked).max, place.count, node);
    const messageCost = message === undefined ? 0 : estimateCost(message.checked).max;
    total.add(`${at}.rule`, cost);
    if (message !== undefined) total.add(`${at}.messageExpression`, messageCost);
    errors.push([
      ...validateCost(`${at}.rule`, 'estimated rule cost', cost),
      ...validateCompiled(compiled, at),
      ...validateCost(`${at}.messageExpression`, 'estimated messageExpression cost', messageCost),
      ...validateOldSelf(compiled, at, place),
    ]);
    yield;
  }
  return errors.flat();
}

function validateCost(path: string, name: string, cost: number): FieldError[] {
  return cost <= maxRuleCost ? [] : [fieldError.forbidden(path, excessText(name, cost, maxRuleCost))];
}

function validateCompiled({ rule, error, messageError }: CompiledRule, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (error !== undefined) errors.push(fieldError.invalid(`${path}.rule`, formatRule(rule), error));
  if (messageError !== undefined) {
    errors.push(fieldError.invalid(`${path}.messageExpression`, formatRule(rule), messageError));
  }
  return errors;
}

function validateOldSelf({ rule, usesOldSelf }: CompiledRule, path: string, { uncorrelated }: Place): FieldError[] {
  if (usesOldSelf) {
    if (uncorrelated === undefined) return [];
    const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
    return [fieldError.invalid(`${path}.rule`, rule.rule, why)];
  }
  if (rule.optionalOldSelf === undefined) return [];
  const why = 'may not be set if oldSelf is not used in rule';
  return [fieldError.invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, why)];
}

/** A rule as errors print it. */
function formatRule({ rule, message, messageExpression, reason, fieldPath, optionalOldSelf }: Rule): Json {
  return {
    Rule: rule,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason ?? null,
    FieldPath: fieldPath,
    OptionalOldSelf: optionalOldSelf ?? null,
  };
}
