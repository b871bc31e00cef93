/** The values of variables for the evaluation of expressions. */
import {
  AuthorizerValue,
  Budget,
  CelError,
  CostLimitExceeded,
  type Decide,
  type KnownDecisions,
  ObjectValue,
  ResourceCheckValue,
  type Value,
} from '../../cel/index.ts';
import { type JsonObject, quote } from '../../meta/index.ts';
import { namespaceOf } from '../matching.ts';
import type { AccessAuthorizer, AdmissionRequest, ServedKind } from '../types.ts';
import { type Compilation, type ExpressionCompiler, ExpressionFault, type VariableName } from './compile.ts';
import { namespaceType, requestType } from './declarations.ts';
import { readDyn } from './values.ts';

/** What one evaluation of an expression may cost. */
export const maxCallCost = 1_000_000;
/** The longest chain of variables that need each other: deeper ones may exhaust the stack. */
const maxVariableDepth = 200;

/** A request as expressions see it, in the version in which it matched. */
export interface RequestInputs {
  readonly request: Pick<
    AdmissionRequest,
    'operation' | 'kind' | 'resource' | 'subresource' | 'namespace' | 'name' | 'user' | 'dryRun' | 'options'
  >;
  readonly matched: ServedKind;
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
  readonly authorize: AccessAuthorizer;
  /** Decisions that expressions have asked for; absent: none so far. */
  readonly decisions?: KnownDecisions;
}

/** The variables of a request in one version, read on first use and shared by all expressions. */
export class RequestValues {
  readonly authorize: AccessAuthorizer;
  /** Decisions that expressions have asked for. */
  readonly known: KnownDecisions;
  /** Answers the checks of the current evaluation. */
  decide: Decide = () => undefined;
  readonly #inputs: RequestInputs;
  #object: Value | undefined;
  #oldObject: Value | undefined;
  #request: Value | undefined;
  #authorizer: AuthorizerValue | undefined;

  constructor(inputs: RequestInputs) {
    this.#inputs = inputs;
    this.authorize = inputs.authorize;
    this.known = inputs.decisions ?? new Map();
  }

  get object(): Value {
    this.#object ??= readDyn(this.#inputs.object ?? null);
    return this.#object;
  }

  get oldObject(): Value {
    this.#oldObject ??= readDyn(this.#inputs.oldObject ?? null);
    return this.#oldObject;
  }

  get request(): Value {
    this.#request ??= new ObjectValue(requestType, requestJson(this.#inputs));
    return this.#request;
  }

  get authorizer(): AuthorizerValue {
    this.#authorizer ??= new AuthorizerValue(this.#inputs.request.user, (attributes) => this.decide(attributes));
    return this.#authorizer;
  }

  get requestResource(): Value {
    const { request } = this.#inputs;
    const { subresource, name } = request;
    const { version: _, ...place } = request.resource;
    return new ResourceCheckValue(this.authorizer, { ...place, subresource, namespace: namespaceOf(request), name });
  }
}

/** The AdmissionRequest; empty fields are absent. */
function requestJson({ request, matched }: RequestInputs): JsonObject {
  const { operation, kind, resource, subresource, name, user, dryRun } = request;
  const namespace = namespaceOf(request);
  const { uid = '', groups, extra = {} } = user;
  const json: JsonObject = {
    kind: { ...matched.kind },
    resource: { ...matched.resource },
    requestKind: { ...kind },
    requestResource: { ...resource },
    operation,
    dryRun,
    options: request.options() ?? null,
    userInfo: {
      ...(user.name === '' ? {} : { username: user.name }),
      ...(uid === '' ? {} : { uid }),
      ...(groups.length === 0 ? {} : { groups: [...groups] }),
      ...(Object.keys(extra).length === 0 ? {} : { extra: extra as JsonObject }),
    },
  };
  if (subresource !== '') json['subResource'] = json['requestSubResource'] = subresource;
  if (name !== '') json['name'] = name;
  if (namespace !== '') json['namespace'] = namespace;
  return json;
}

export interface ActivationOptions {
  readonly params?: JsonObject | undefined;
  readonly namespaceObject?: JsonObject | undefined;
  /** Has the variables of the policy. */
  readonly compiler?: ExpressionCompiler | undefined;
}

/** The variables of the expressions of one policy with one parameter. Each variable of the policy is evaluated once. */
export class Activation {
  readonly request: RequestValues;
  readonly #params: Value;
  readonly #namespace: Value;
  readonly #variables: VariablesValue | undefined;

  constructor(request: RequestValues, { params, namespaceObject, compiler }: ActivationOptions = {}) {
    this.request = request;
    this.#params = readDyn(params ?? null);
    this.#namespace = namespaceObject === undefined ? null : new ObjectValue(namespaceType, namespaceObject);
    this.#variables = compiler && compiler.variables.size > 0 ? new VariablesValue(compiler, this) : undefined;
  }

  /** The cost of variables since the last call. */
  takeCost(): number {
    return this.#variables?.takeCost() ?? 0;
  }

  /** The values by slot. */
  values(slots: readonly (VariableName | undefined)[]): Value[] {
    const values: Value[] = [];
    for (const name of slots) values.push(name === undefined ? null : this.#read(name));
    return values;
  }

  #read(name: VariableName): Value {
    switch (name) {
      case 'object':
      case 'oldObject':
      case 'request':
      case 'authorizer':
        return this.request[name];
      case 'authorizer.requestResource':
        return this.request.requestResource;
      case 'params':
        return this.#params;
      case 'namespaceObject':
        return this.#namespace;
      case 'variables':
        return this.#variables ?? null;
    }
  }
}

/** The variables of a policy, each evaluated when it is first read. */
class VariablesValue extends ObjectValue {
  readonly #compiled: ReadonlyMap<string, Compilation>;
  readonly #activation: Activation;
  readonly #known = new Map<string, Value | CelError>();
  #cost = 0;
  /** How many variables are being evaluated, each for the one before. */
  #depth = 0;

  constructor({ variables, variablesType }: ExpressionCompiler, activation: Activation) {
    super(variablesType, {});
    this.#compiled = variables;
    this.#activation = activation;
  }

  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  override has(identifier: string): boolean {
    return this.#compiled.has(identifier);
  }

  override get(identifier: string): Value | undefined {
    const compiled = this.#compiled.get(identifier);
    if (compiled === undefined) return undefined;
    let known = this.#known.get(identifier);
    if (known === undefined) {
      known = this.#evaluate(identifier, compiled);
      this.#known.set(identifier, known);
    }
    if (known instanceof CelError) throw known;
    return known;
  }

  #evaluate(name: string, compiled: Compilation): Value | CelError {
    if (compiled instanceof ExpressionFault) {
      return new CelError(`composited variable ${quote(name)} fails to compile: ${compiled.message}`);
    }
    if (this.#depth === maxVariableDepth) throw new RangeError('the variables nest too deeply');
    this.#depth++;
    const budget = new Budget(maxCallCost);
    try {
      return compiled.program.evaluate(this.#activation.values(compiled.slots), budget);
    } catch (thrown) {
      if (!(thrown instanceof CelError || thrown instanceof CostLimitExceeded)) throw thrown;
      return new CelError(`composited variable ${quote(name)} fails to evaluate: ${thrown.message}`);
    } finally {
      this.#depth--;
      this.#cost += maxCallCost - budget.remaining;
    }
  }
}
