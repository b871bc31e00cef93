/** The evaluation of a validating policy for one request and one parameter. */
import { Budget } from '../../cel/index.ts';
import type { Clock, JsonObject, Steps } from '../../meta/index.ts';
import type { ValidatingAdmissionPolicySpec } from '../../types/admissionregistration-v1.ts';
import { Activation, type RequestValues } from '../expressions/activation.ts';
import { type Compilation, ExpressionCompiler, ExpressionFault, resultTypes } from '../expressions/compile.ts';
import { evaluate, maxPolicyCost, OutOfBudget } from '../expressions/evaluate.ts';
import { type CompiledConditions, compileMatchConditions, matchesConditions } from '../expressions/match-conditions.ts';

/** The expressions of a policy, compiled. */
export interface PolicyProgram {
  readonly compiler: ExpressionCompiler;
  readonly conditions: CompiledConditions;
  readonly validations: readonly CompiledValidation[];
  readonly annotations: readonly { readonly key: string; readonly compiled: Compilation }[];
  readonly failurePolicy: string;
  /** Whether an expression reads `namespaceObject`. */
  readonly usesNamespace: boolean;
}

interface CompiledValidation {
  readonly compiled: Compilation;
  readonly message: Compilation | undefined;
  /** The message without a messageExpression. */
  readonly text: string;
  readonly reason: string | undefined;
}

/** Compiles a stored policy, in steps. */
export function* compilePolicy(spec: ValidatingAdmissionPolicySpec): Steps<PolicyProgram> {
  const { variables = [], auditAnnotations = [], matchConditions, failurePolicy = 'Fail' } = spec;
  const params = spec.paramKind !== undefined;
  const conditions = yield* compileMatchConditions(matchConditions, params);
  const compiler = new ExpressionCompiler({ params, composed: variables.length > 0 });
  for (const { name = '', expression = '' } of variables) {
    yield;
    yield* compiler.addVariableInSteps(name, expression, true);
  }
  const validations: CompiledValidation[] = [];
  for (const { expression = '', message = '', messageExpression = '', reason } of spec.validations ?? []) {
    yield;
    const { condition, message: text } = resultTypes;
    validations.push({
      compiled: yield* compiler.compileInSteps(expression, { returns: condition, isStored: true }),
      message:
        messageExpression === ''
          ? undefined
          : yield* compiler.compileInSteps(messageExpression, { returns: text, isStored: true, authorizer: false }),
      text: message.trim() || `failed expression: ${expression.trim()}`,
      reason,
    });
  }
  const annotations: PolicyProgram['annotations'][number][] = [];
  for (const { key = '', valueExpression = '' } of auditAnnotations) {
    yield;
    annotations.push({
      key,
      compiled: yield* compiler.compileInSteps(valueExpression, { returns: resultTypes.annotation, isStored: true }),
    });
  }
  const all = [
    ...compiler.variables.values(),
    ...validations.flatMap(({ compiled, message }) => [compiled, message]),
    ...annotations.map(({ compiled }) => compiled),
  ];
  return { compiler, conditions, validations, annotations, failurePolicy, usesNamespace: all.some(readsNamespace) };
}

const readsNamespace = (compiled: Compilation | undefined): boolean =>
  compiled !== undefined && !(compiled instanceof ExpressionFault) && compiled.slots.includes('namespaceObject');

/** The result of a policy for a request. */
export interface PolicyResult {
  /** Of the validations that do not hold. */
  readonly decisions: readonly Decision[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
  /** Failures of audit annotations, which deny whatever the actions of the binding. */
  readonly annotationFailures: readonly Decision[];
}

/** A validation that does not hold, or an error. */
export interface Decision {
  /** Of the validation or audit annotation. */
  readonly index: number;
  /** An error that the failure policy ignores is counted and nothing more. */
  readonly denies: boolean;
  readonly isError: boolean;
  readonly message: string;
  readonly reason: string | undefined;
  readonly seconds: number;
}

const nothing: PolicyResult = { decisions: [], annotations: [], annotationFailures: [] };

/** The input of the evaluation of a policy. */
export interface PolicyInputs {
  readonly program: PolicyProgram;
  readonly request: RequestValues;
  readonly params: JsonObject | undefined;
  readonly namespaceObject: JsonObject | undefined;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Evaluates a policy. Errors become decisions by its failure policy. */
export async function evaluatePolicy(inputs: PolicyInputs): Promise<PolicyResult> {
  const { program, request, params, namespaceObject, clock } = inputs;
  const { conditions, failurePolicy, compiler } = program;
  const denies = failurePolicy !== 'Ignore';
  if (conditions.conditions.length > 0) {
    const matched = await matchesConditions(conditions, request, params);
    if (matched.result === 'no match') return nothing;
    if (matched.result === 'error') return denies ? failed(matched.message, denies) : nothing;
  }
  const activation = new Activation(request, { params, namespaceObject, compiler });
  try {
    const budget = new Budget(maxPolicyCost);
    const failures: FailedValidation[] = [];
    for (let index = 0; index < program.validations.length; index++) {
      const validation = program.validations[index] as CompiledValidation;
      if (request.turns.over) await request.turns.next();
      const began = clock.monotonic();
      const { value, failure } = await evaluate(validation.compiled, activation, budget);
      if (value !== true) failures.push({ index, validation, failure, seconds: (clock.monotonic() - began) / 1000 });
    }
    const decisions = failures.length === 0 ? [] : await decisionsOf(failures, activation, budget, denies);
    if (program.annotations.length > 0) {
      const { annotations, annotationFailures } = await evaluateAnnotations(program, activation, clock, denies);
      return { decisions, annotations, annotationFailures };
    }
    return decisions.length === 0 ? nothing : { decisions, annotations: [], annotationFailures: [] };
  } catch (thrown) {
    if (thrown instanceof OutOfBudget) return failed(thrown.message, denies);
    throw thrown;
  }
}

/** The result of a policy that cannot be evaluated. */
const failed = (message: string, denies: boolean): PolicyResult => ({
  decisions: [{ index: 0, denies, isError: true, message, reason: undefined, seconds: 0 }],
  annotations: [],
  annotationFailures: [],
});

type Timer = Pick<Clock, 'monotonic'>;

/** A validation that does not hold, or why that is not known. */
interface FailedValidation {
  readonly index: number;
  readonly validation: CompiledValidation;
  readonly failure: string | undefined;
  readonly seconds: number;
}

/** @throws OutOfBudget */
async function decisionsOf(
  failures: readonly FailedValidation[],
  activation: Activation,
  budget: Budget,
  denies: boolean,
): Promise<readonly Decision[]> {
  const decisions: Decision[] = [];
  for (const { index, validation, failure, seconds } of failures) {
    if (failure === undefined)
      decisions.push({ index, seconds, ...(await denialOf(validation, activation, budget, denies)) });
    else decisions.push({ index, denies, isError: true, message: failure, reason: undefined, seconds });
  }
  return decisions;
}

/** Of the result of a messageExpression, in bytes. */
const maxMessage = 5 * 1024;

/** The decision of a validation that does not hold. The expression of its message has what the budget has left. */
async function denialOf(
  { message: expression, text, reason }: CompiledValidation,
  activation: Activation,
  budget: Budget,
  denies: boolean,
): Promise<Omit<Decision, 'index' | 'seconds'>> {
  const denial = { denies: true, isError: false, message: text, reason };
  if (expression === undefined) return denial;
  try {
    const { value } = await evaluate(expression, activation, budget);
    const message = typeof value === 'string' ? value.trim() : '';
    const isUsable = message !== '' && !message.includes('\n') && Buffer.byteLength(message) <= maxMessage;
    return isUsable ? { ...denial, message } : denial;
  } catch (thrown) {
    if (!(thrown instanceof OutOfBudget)) throw thrown;
    return { denies, isError: true, message: `failed messageExpression: ${thrown.message}`, reason: undefined };
  }
}

/** @throws OutOfBudget */
async function evaluateAnnotations(
  { annotations: compiled }: PolicyProgram,
  activation: Activation,
  clock: Timer,
  denies: boolean,
): Promise<Pick<PolicyResult, 'annotations' | 'annotationFailures'>> {
  const budget = new Budget(maxPolicyCost);
  const annotations: PolicyResult['annotations'][number][] = [];
  const annotationFailures: Decision[] = [];
  for (const [index, annotation] of compiled.entries()) {
    const began = clock.monotonic();
    const { value, failure } = await evaluate(annotation.compiled, activation, budget);
    const text = typeof value === 'string' ? value.trim() : '';
    if (text !== '') annotations.push({ key: annotation.key, value: text });
    if (failure === undefined || !denies) continue;
    const seconds = (clock.monotonic() - began) / 1000;
    annotationFailures.push({ index, denies, isError: true, message: failure, reason: undefined, seconds });
  }
  return { annotations, annotationFailures };
}
