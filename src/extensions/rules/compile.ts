/** Rules of a schema node, compiled. */
import {
  CelError,
  type CelType,
  type CheckedExpression,
  checkInSteps,
  checkNewInSteps,
  compileExpression,
  createEnvironment,
  type EnvironmentOptions,
  ExpressionError,
  optionalType,
  type Program,
} from '../../cel/index.ts';
import { compatibleRelease, type Release, type Steps } from '../../meta/index.ts';
import type { Rule, Structural } from '../structural.ts';
import { fieldPathOf } from './field-path.ts';
import { ruleLibraries } from './libraries.ts';

export interface CompiledExpression {
  readonly checked: CheckedExpression;
  readonly program: Program;
}

/** A rule, or why it cannot be evaluated. */
export interface CompiledRule {
  readonly rule: Rule;
  /** Undefined: there is an error, or the rule is empty. */
  readonly expression: CompiledExpression | undefined;
  readonly error: string | undefined;
  readonly message: CompiledExpression | undefined;
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

/** The expressions of all rules of a schema. */
export function expressionsOf(structural: Structural): StoredExpressions {
  const rules = new Set<string>();
  const messages = new Set<string>();
  const visit = (node: Structural): void => {
    if (!node.has.rules) return;
    for (const { rule, messageExpression } of node.rules) {
      rules.add(rule);
      messages.add(messageExpression);
    }
    const { items, additionalProperties: values } = node;
    if (items !== undefined) visit(items);
    if (values !== undefined && values !== true) visit(values);
    for (const property of node.properties.values()) visit(property);
  };
  visit(structural);
  return { rules, messages };
}

/**
 * Compiles a rule on values of the type. Without `stored`, all expressions count as stored; others must be valid in the
 * `compatible` release. In steps: each expression is parsed, checked and compiled in one of its own.
 */
export function* compileRule(
  rule: Rule,
  structural: Structural,
  type: CelType,
  stored: StoredExpressions | undefined,
  compatible: Release = compatibleRelease,
): Steps<CompiledRule> {
  const nothing = { rule, error: undefined, message: undefined, messageError: undefined, usesOldSelf: false };
  const unchecked = { ...nothing, expression: undefined, fieldPath: '' };
  if (rule.rule.trim() === '') return unchecked;
  const of = (source: string, variables: ReadonlySet<string> | undefined, to: Expected) =>
    compileAs(source, rule, type, variables === undefined || variables.has(source) ? undefined : compatible, to);
  const expression = yield* of(rule.rule, stored?.rules, expectedOfRule);
  if (typeof expression === 'string') return { ...unchecked, error: expression };
  if (rule.messageExpression !== '') yield;
  const message =
    rule.messageExpression === '' ? undefined : yield* of(rule.messageExpression, stored?.messages, expectedOfMessage);
  return {
    ...nothing,
    expression,
    ...(typeof message === 'string' ? { messageError: message } : { message }),
    usesOldSelf: expression.checked.variables.has('oldSelf'),
    fieldPath: rule.fieldPath === '' ? '' : (fieldPathOf(rule.fieldPath, structural) ?? ''),
  };
}

interface Expected {
  readonly kind: CelType['kind'];
  /** Begins the text of errors. */
  readonly prefix: string;
  readonly mismatch: string;
}
const expectedOfRule: Expected = {
  kind: 'bool',
  prefix: '',
  mismatch: 'cel expression must evaluate to a bool',
};
const expectedOfMessage: Expected = {
  kind: 'string',
  prefix: 'messageExpression ',
  mismatch: 'messageExpression must evaluate to a string',
};

/** The compiled expression, or why it is not valid. `compatible`: the release in which it must be valid; undefined: it is stored. */
function* compileAs(
  source: string,
  rule: Rule,
  type: CelType,
  compatible: Release | undefined,
  { kind, prefix, mismatch }: Expected,
): Steps<CompiledExpression | string> {
  try {
    const variables = variablesOf(type, rule);
    const checked =
      compatible === undefined
        ? yield* checkInSteps(createEnvironment({ variables, libraries: ruleLibraries.ofStored }), source)
        : yield* checkNewInSteps({ variables }, ruleLibraries, compatible, source);
    yield;
    return checked.type.kind === kind ? { checked, program: compileExpression(checked) } : mismatch;
  } catch (thrown) {
    if (thrown instanceof ExpressionError) return `${prefix}compilation failed: ${thrown.message}`;
    // A constant cannot be converted.
    if (thrown instanceof CelError) return `${prefix || 'program '}instantiation failed: ${thrown.message}`;
    throw thrown;
  }
}

/** The variables of a rule on values of the type: the slots of `self` and `oldSelf`, in this order. */
const variablesOf = (type: CelType, { optionalOldSelf }: Rule): EnvironmentOptions['variables'] => [
  { name: 'self', type },
  { name: 'oldSelf', type: optionalOldSelf === true ? optionalType(type) : type },
];
