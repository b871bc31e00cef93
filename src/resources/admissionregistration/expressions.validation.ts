/**
 * Validation of expressions: they compile, and their results have the right types. Expressions that are stored already
 * may use functions that new ones may not; these must be valid in the `compatible` release.
 */
import { ExpressionCompiler, ExpressionFault, type ExpressionOptions, resultTypes } from '../../admission/index.ts';
import { type FieldError, fieldError, type Json, jsonEqual, type Release, type Steps } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type {
  MatchCondition,
  ParamKind,
  ValidatingAdmissionPolicySpec,
  Variable,
} from '../../types/admissionregistration-v1.ts';
import type { MutatingAdmissionPolicySpec, Mutation } from '../../types/admissionregistration-v1alpha1.ts';
import { MAX_VALUE_EXPRESSION } from './admission-policies.validation.ts';

type Conditions = readonly Infer<typeof MatchCondition>[] | undefined;

/** The fields that all kinds of policies have. */
interface PolicyExpressions {
  readonly paramKind?: Infer<typeof ParamKind>;
  readonly matchConditions?: Conditions;
  readonly variables?: readonly Infer<typeof Variable>[];
}

/** The compile error of an expression, which the message shows as `displayed`. A blank one has none: a required error covers it. */
function* validateExpression(
  compiler: ExpressionCompiler,
  source: string,
  path: string,
  options: ExpressionOptions,
  displayed = source,
): Steps<FieldError[]> {
  if (source.trim() === '') return [];
  yield;
  const compiled = yield* compiler.compileInSteps(source, options);
  return compiled instanceof ExpressionFault ? [errorOf(compiled, path, displayed)] : [];
}

const errorOf = ({ message, isInternal }: ExpressionFault, path: string, displayed: string): FieldError =>
  isInternal ? fieldError.internal(path, message) : fieldError.invalid(path, displayed, message);

const sourcesOf = (conditions: Conditions): ReadonlySet<string | undefined> =>
  new Set(conditions?.map(({ expression }) => expression));

/** Validates match conditions that have changed; `params`: they have parameters. */
function* validateConditionExpressions(
  conditions: Conditions,
  old: Conditions,
  path: string,
  { params = false, compatible }: { readonly params?: boolean; readonly compatible: Release | undefined },
): Steps<FieldError[]> {
  const compiler = new ExpressionCompiler({ params, composed: false, compatible });
  const stored = sourcesOf(old);
  const errors: FieldError[] = [];
  for (const [i, { expression = '' }] of (conditions ?? []).entries()) {
    const options = { returns: resultTypes.condition, isStored: stored.has(expression) };
    errors.push(...(yield* validateExpression(compiler, expression.trim(), `${path}[${i}].expression`, options)));
  }
  return errors;
}

/** Validates match conditions and variables; the compiler is that of the other expressions of the policy. */
function* validateCommonExpressions(
  spec: PolicyExpressions,
  old: PolicyExpressions | undefined,
  compatible: Release | undefined,
): Steps<{ readonly compiler: ExpressionCompiler; readonly errors: FieldError[] }> {
  const { paramKind, matchConditions, variables = [] } = spec;
  const context = { params: paramKind !== undefined, compatible };
  const errors: FieldError[] = [];
  if (old === undefined || !same(paramKind, old.paramKind) || !same(matchConditions, old.matchConditions)) {
    const path = 'spec.matchConditions';
    errors.push(...(yield* validateConditionExpressions(matchConditions, old?.matchConditions, path, context)));
  }
  const compiler = new ExpressionCompiler({ ...context, composed: variables.length > 0 });
  const stored = new Set(old?.variables?.map(({ expression }) => expression));
  for (const [i, { name = '', expression = '' }] of variables.entries()) {
    if (expression.trim() === '') continue;
    yield;
    const compiled = yield* compiler.addVariableInSteps(name, expression, stored.has(expression));
    if (compiled instanceof ExpressionFault) {
      errors.push(errorOf(compiled, `spec.variables[${i}].expression`, expression));
    }
  }
  return { compiler, errors };
}

const same = (one: unknown, other: unknown): boolean => jsonEqual(one as Json | undefined, other as Json | undefined);

/** Validates the expressions of a ValidatingAdmissionPolicy; undefined when it has not changed. */
export function validatePolicyExpressions(
  spec: ValidatingAdmissionPolicySpec,
  old: ValidatingAdmissionPolicySpec | undefined,
  compatible: Release | undefined,
): Steps<FieldError[]> | undefined {
  return same(spec, old) ? undefined : validatePolicySteps(spec, old, compatible);
}

function* validatePolicySteps(
  spec: ValidatingAdmissionPolicySpec,
  old: ValidatingAdmissionPolicySpec | undefined,
  compatible: Release | undefined,
): Steps<FieldError[]> {
  const { compiler, errors } = yield* validateCommonExpressions(spec, old, compatible);
  const validations = new Set(old?.validations?.map(({ expression }) => expression));
  const messages = new Set(old?.validations?.map(({ messageExpression }) => messageExpression));
  const annotations = new Set(old?.auditAnnotations?.map(({ valueExpression }) => valueExpression));
  const { condition, message, annotation } = resultTypes;
  for (const [i, { expression = '', messageExpression = '' }] of (spec.validations ?? []).entries()) {
    const path = `spec.validations[${i}]`;
    const options = { returns: condition, isStored: validations.has(expression) };
    errors.push(...(yield* validateExpression(compiler, expression, `${path}.expression`, options)));
    const ofMessage = { returns: message, isStored: messages.has(messageExpression), authorizer: false };
    errors.push(...(yield* validateExpression(compiler, messageExpression, `${path}.messageExpression`, ofMessage)));
  }
  for (const [i, { valueExpression = '' }] of (spec.auditAnnotations ?? []).entries()) {
    const path = `spec.auditAnnotations[${i}].valueExpression`;
    const source = valueExpression.trim();
    if (Buffer.byteLength(source) > MAX_VALUE_EXPRESSION) continue;
    const options = { returns: annotation, isStored: annotations.has(valueExpression) };
    errors.push(...(yield* validateExpression(compiler, source, path, options, valueExpression)));
  }
  return errors;
}

function fieldOf({ patchType }: Mutation): 'applyConfiguration' | 'jsonPatch' | undefined {
  if (patchType === 'JSONPatch') return 'jsonPatch';
  return patchType === 'ApplyConfiguration' ? 'applyConfiguration' : undefined;
}

function expressionOf(mutation: Mutation): string | undefined {
  const field = fieldOf(mutation);
  return field === undefined ? undefined : mutation[field]?.expression;
}

/** Validates the expressions of a MutatingAdmissionPolicy; undefined when it has not changed. */
export function validateMutatingPolicyExpressions(
  spec: MutatingAdmissionPolicySpec,
  old: MutatingAdmissionPolicySpec | undefined,
  compatible: Release | undefined,
): Steps<FieldError[]> | undefined {
  return same(spec, old) ? undefined : validateMutatingPolicySteps(spec, old, compatible);
}

function* validateMutatingPolicySteps(
  spec: MutatingAdmissionPolicySpec,
  old: MutatingAdmissionPolicySpec | undefined,
  compatible: Release | undefined,
): Steps<FieldError[]> {
  const { compiler, errors } = yield* validateCommonExpressions(spec, old, compatible);
  const stored = new Set(old?.mutations?.map(expressionOf));
  for (const [i, mutation] of (spec.mutations ?? []).entries()) {
    const field = fieldOf(mutation);
    const expression = expressionOf(mutation);
    if (field === undefined || expression === undefined) continue;
    const path = `spec.mutations[${i}].${field}.expression`;
    const options = { returns: resultTypes[field], isStored: stored.has(expression), mutates: true };
    errors.push(...(yield* validateExpression(compiler, expression.trim(), path, options)));
  }
  return errors;
}

interface Webhook {
  readonly matchConditions?: Conditions;
}

/** Validates the match conditions of webhooks; undefined when none has changed. */
export function validateWebhookExpressions(
  webhooks: readonly Webhook[] = [],
  old: readonly Webhook[] | undefined,
  compatible: Release | undefined,
): Steps<FieldError[]> | undefined {
  const all = (list: readonly Webhook[] | undefined) => list?.map(({ matchConditions }) => matchConditions ?? []);
  return same(all(webhooks), all(old)) ? undefined : validateWebhookSteps(webhooks, old, compatible);
}

function* validateWebhookSteps(
  webhooks: readonly Webhook[],
  old: readonly Webhook[] | undefined,
  compatible: Release | undefined,
): Steps<FieldError[]> {
  const stored = old?.flatMap(({ matchConditions = [] }) => matchConditions);
  const errors: FieldError[] = [];
  for (const [i, { matchConditions }] of webhooks.entries()) {
    const path = `webhooks[${i}].matchConditions`;
    errors.push(...(yield* validateConditionExpressions(matchConditions, stored, path, { compatible })));
  }
  return errors;
}
