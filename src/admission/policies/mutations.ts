/** The mutations of a MutatingAdmissionPolicy: compiled, and applied to the object of a request. */
import {
  Budget,
  CelError,
  ConstructedValue,
  JsonLimit,
  jsonOf,
  ListValue,
  literalTypeMismatches,
  type Value,
} from '../../cel/index.ts';
import { applyJsonPatch, maxJsonPatchOperations, mergeValues, reasonOfJsonPatch } from '../../merge/index.ts';
import {
  formatGroupVersion,
  isJsonObject,
  type Json,
  type JsonObject,
  StatusError,
  type Steps,
  statusError,
} from '../../meta/index.ts';
import type { MutatingAdmissionPolicySpec, Mutation } from '../../types/admissionregistration-v1alpha1.ts';
import type { Activation } from '../expressions/activation.ts';
import { type Compilation, ExpressionCompiler, ExpressionFault, resultTypes } from '../expressions/compile.ts';
import { evaluate, maxPolicyCost, OutOfBudget } from '../expressions/evaluate.ts';
import { type CompiledConditions, compileMatchConditions } from '../expressions/match-conditions.ts';
import type { AdmissionRequest, ServedKind } from '../types.ts';

/** The expressions of a policy, compiled. */
export interface MutatingProgram {
  readonly compiler: ExpressionCompiler;
  readonly conditions: CompiledConditions;
  readonly mutations: readonly CompiledMutation[];
  /** Whether an expression reads `namespaceObject`. */
  readonly usesNamespace: boolean;
  /** Whether it is invoked again when the object changes afterwards. */
  readonly reinvocable: boolean;
}

export interface CompiledMutation {
  readonly kind: 'applyConfiguration' | 'jsonPatch';
  readonly compiled: Compilation;
}

/** Compiles a stored policy, in steps. */
export function* compileMutatingPolicy(spec: MutatingAdmissionPolicySpec): Steps<MutatingProgram> {
  const { variables = [], mutations: declared = [], matchConditions, paramKind } = spec;
  const params = paramKind !== undefined;
  const conditions = yield* compileMatchConditions(matchConditions, params);
  const compiler = new ExpressionCompiler({ params, composed: variables.length > 0 });
  for (const { name = '', expression = '' } of variables) {
    yield;
    yield* compiler.addVariableInSteps(name, expression, true);
  }
  const mutations: CompiledMutation[] = [];
  for (const mutation of declared) {
    yield;
    mutations.push(yield* compileMutation(compiler, mutation));
  }
  const all = [...compiler.variables.values(), ...mutations.map(({ compiled }) => compiled)];
  const reinvocable = spec.reinvocationPolicy === 'IfNeeded';
  return { compiler, conditions, mutations, usesNamespace: all.some(readsNamespace), reinvocable };
}

function* compileMutation(compiler: ExpressionCompiler, mutation: Mutation): Steps<CompiledMutation> {
  const kind = mutation.patchType === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration';
  const { expression = '' } = mutation[kind] ?? {};
  return {
    kind,
    compiled: yield* compiler.compileInSteps(expression, { returns: resultTypes[kind], isStored: true, mutates: true }),
  };
}

const readsNamespace = (compiled: Compilation): boolean =>
  !(compiled instanceof ExpressionFault) && compiled.slots.includes('namespaceObject');

/** Why a mutation cannot be applied; the failure policy decides what follows. */
export class MutationFailure extends Error {
  /** As metrics name it. */
  readonly kind: 'compile_error' | 'invalid_error' | 'out_of_budget';

  constructor(message: string, kind: MutationFailure['kind'] = 'invalid_error') {
    super(message);
    this.kind = kind;
  }
}

/** The object that is changed. */
export interface Mutated {
  readonly request: Pick<AdmissionRequest, 'versions'>;
  /** The version in which the policy sees it. */
  readonly as: ServedKind;
  /** As it is now, in that version. Read-only. */
  readonly object: JsonObject;
}

/**
 * Applies a mutation to the object of a request.
 * @throws MutationFailure
 * @throws StatusError 500 when the patched object cannot be decoded, which rejects the request whatever the failure policy
 */
export async function applyMutation(
  { kind, compiled }: CompiledMutation,
  mutated: Mutated,
  activation: Activation,
): Promise<void> {
  const value = await evaluated(compiled, activation);
  if (kind === 'jsonPatch') await patch(mutated, operationsOf(value));
  else await merge(mutated, configurationOf(value));
}

async function evaluated(compiled: Compilation, activation: Activation): Promise<Value> {
  if (compiled instanceof ExpressionFault) {
    const { message } = compiled;
    throw new MutationFailure(message, message.startsWith('compilation') ? 'compile_error' : 'invalid_error');
  }
  try {
    const { value, failure } = await evaluate(compiled, activation, new Budget(maxPolicyCost));
    if (failure !== undefined) throw new MutationFailure(failure);
    return value;
  } catch (thrown) {
    throw thrown instanceof OutOfBudget ? new MutationFailure(thrown.message, 'out_of_budget') : thrown;
  }
}

/** The applied configuration that an expression gives. */
function configurationOf(value: Value): JsonObject {
  if (!(value instanceof ConstructedValue)) {
    throw new MutationFailure('unsupported return type from ApplyConfiguration expression');
  }
  // This bounds the value, too.
  const json = jsonIn(value, new JsonLimit(), 'invalid return type');
  checkTypes(value);
  return json as JsonObject;
}

function checkTypes(value: ConstructedValue): void {
  const mismatches = literalTypeMismatches(value);
  if (mismatches.length > 0) throw new MutationFailure(`type mismatch: ${mismatches.join('\n')}`);
}

function jsonIn(value: Value, limit: JsonLimit, what: string): Json {
  try {
    return jsonOf(value, limit);
  } catch (thrown) {
    throw thrown instanceof CelError ? new MutationFailure(`${what}: ${thrown.message}`) : thrown;
  }
}

/** The operations of the patches that an expression gives. */
function operationsOf(value: Value): readonly JsonObject[] {
  const size = value instanceof ListValue ? value.size : 0;
  if (size > maxJsonPatchOperations) {
    const why = `The allowed maximum operations in a JSON patch is ${maxJsonPatchOperations}, got ${size}`;
    throw new MutationFailure(`JSON Patch: ${why}`);
  }
  const limit = new JsonLimit();
  return Array.from({ length: size }, (_, i) => operationOf((value as ListValue).get(i), limit));
}

function operationOf(one: Value, limit: JsonLimit): JsonObject {
  if (!(one instanceof ConstructedValue) || one.type.name !== 'JSONPatch') {
    throw new MutationFailure('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch');
  }
  const operation: JsonObject = { op: one.get('op') as string, path: one.get('path') as string };
  if (one.get('from') !== '') operation['from'] = one.get('from') as string;
  const value = one.get('value');
  if (value === undefined) return { ...operation, value: null };
  const json = jsonIn(value, limit, 'JSONPath valueExpression evaluated to a type that could not marshal to JSON');
  if (value instanceof ConstructedValue) checkTypes(value);
  return { ...operation, value: json };
}

async function merge({ request: { versions }, as, object }: Mutated, applyConfig: JsonObject): Promise<void> {
  const identity = { apiVersion: formatGroupVersion(as.kind), kind: as.kind.kind };
  try {
    const merged = mergeValues(versions.type(as), object, { ...applyConfig, ...identity });
    if (merged !== object) await versions.write(as, merged);
  } catch (thrown) {
    if (!(thrown instanceof StatusError) || thrown.code >= 500) throw thrown;
    throw new MutationFailure(`error applying patch: ${thrown.message}`);
  }
}

/** A patch with a test that fails changes nothing. */
async function patch({ request: { versions }, as, object }: Mutated, operations: readonly JsonObject[]): Promise<void> {
  const patched = patchedOf(object, operations);
  if (patched === undefined) return;
  try {
    await versions.write(as, patched, true);
  } catch (thrown) {
    throw thrown instanceof StatusError && thrown.code < 500 ? statusError.internal(thrown.message, thrown) : thrown;
  }
}

function patchedOf(object: JsonObject, operations: readonly JsonObject[]): JsonObject | undefined {
  try {
    const patched = applyJsonPatch(object, operations);
    if (isJsonObject(patched)) return patched;
    throw new MutationFailure('JSON Patch: the patched document is not a JSON object');
  } catch (thrown) {
    if (!(thrown instanceof StatusError)) throw thrown;
    const reason = reasonOfJsonPatch(thrown);
    if (reason?.isTest === true) return undefined;
    throw new MutationFailure(`JSON Patch: ${reason?.message ?? thrown.message}`);
  }
}
