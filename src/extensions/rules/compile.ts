/** Rules of a schema node, type-checked. */
import { type CelType, type CheckedExpression, check, ExpressionError, type Library } from '../../cel/index.ts';
import type { Rule, Structural } from '../structural.ts';
import { environmentOf, newLibraries, storedLibraries } from './environments.ts';
import { fieldPathOf } from './field-path.ts';

/** A rule, or why it cannot be evaluated. */
export interface CheckedRule {
  readonly rule: Rule;
  /** Undefined: there is an error, or the rule is empty. */
  readonly expression: CheckedExpression | undefined;
  readonly error: string | undefined;
  readonly message: CheckedExpression | undefined;
  readonly messageError: string | undefined;
  readonly usesOldSelf: boolean;
  /** The path below the value that errors name; empty: the value itself. */
  readonly fieldPath: string;
}

/** Expressions that are stored already: they may use what new ones cannot. */
export interface StoredExpressions {
  readonly rules: ReadonlySet<string>;
  readonly messages: ReadonlySet<string>;
}

/** Type-checks a rule on values of the type. Without `stored`, all expressions count as stored. */
export function checkRule(
  rule: Rule,
  structural: Structural,
  type: CelType,
  stored: StoredExpressions | undefined,
): CheckedRule {
  const nothing = { rule, error: undefined, message: undefined, messageError: undefined, usesOldSelf: false };
  const unchecked = { ...nothing, expression: undefined, fieldPath: '' };
  if (rule.rule.trim() === '') return unchecked;
  const of = (source: string, known: ReadonlySet<string> | undefined, to: Expected) =>
    checkAs(source, rule, type, known === undefined || known.has(source) ? storedLibraries : newLibraries, to);
  const expression = of(rule.rule, stored?.rules, expectedOfRule);
  if (typeof expression === 'string') return { ...unchecked, error: expression };
  const message =
    rule.messageExpression === '' ? undefined : of(rule.messageExpression, stored?.messages, expectedOfMessage);
  return {
    ...nothing,
    expression,
    ...(typeof message === 'string' ? { messageError: message } : { message }),
    usesOldSelf: expression.variables.has('oldSelf'),
    fieldPath: rule.fieldPath === '' ? '' : (fieldPathOf(rule.fieldPath, structural) ?? ''),
  };
}

interface Expected {
  readonly kind: CelType['kind'];
  readonly failed: string;
  readonly mismatch: string;
}
const expectedOfRule: Expected = {
  kind: 'bool',
  failed: 'compilation failed',
  mismatch: 'cel expression must evaluate to a bool',
};
const expectedOfMessage: Expected = {
  kind: 'string',
  failed: 'messageExpression compilation failed',
  mismatch: 'messageExpression must evaluate to a string',
};

/** The checked expression, or why it is not valid. */
function checkAs(
  source: string,
  rule: Rule,
  type: CelType,
  libraries: readonly Library[],
  { kind, failed, mismatch }: Expected,
): CheckedExpression | string {
  try {
    const checked = check(environmentOf(type, rule, libraries), source);
    return checked.type.kind === kind ? checked : mismatch;
  } catch (thrown) {
    if (thrown instanceof ExpressionError) return `${failed}: ${thrown.message}`;
    throw thrown;
  }
}
