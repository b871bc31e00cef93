/** The values of variables for the evaluation of expressions. */
import {
  AuthorizerValue,
  Budget,
  CelError,
  CostLimitError,
  type Decide,
  Interruption,
  type KnownDecisions,
  ObjectValue,
  ResourceCheckValue,
  readDyn,
  type Value,
} from '../../cel/index.ts';
import { type JsonObject, quote, type Steps, serverTurns, type Turns, toUserInfo } from '../../meta/index.ts';
import { namespaceOf } from '../matching.ts';
import type { AccessAuthorizer, AdmissionRequest, ServedKind } from '../types.ts';
import {
  type Compilation,
  type CompiledExpression,
  type ExpressionCompiler,
  ExpressionFault,
  type VariableName,
} from './compile.ts';
import { namespaceType, requestType } from './declarations.ts';

/** The maximum cost of one evaluation of an expression. */
export const maxCallCost = 1_000_000;
/** The longest chain of variables that need each other: deeper ones may exhaust the stack. */
const maxVariableDepth = 200;

/** A request as expressions see it, in the version in which it matched. */
export interface RequestInputs {
  readonly request: Pick<
    AdmissionRequest,
    'operation' | 'kind' | 'resource' | 'subresource' | 'namespace' | 'name' | 'user' | 'dryRun' | 'options' | 'turns'
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
  /** Those of evaluations that take long. */
  readonly turns: Turns;
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
    this.turns = inputs.request.turns ?? serverTurns();
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
  const json: JsonObject = {
    kind: { ...matched.kind },
    resource: { ...matched.resource },
    requestKind: { ...kind },
    requestResource: { ...resource },
    operation,
    dryRun,
    options: request.options() ?? null,
    userInfo: toUserInfo(user),
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

  /** The value of an expression. @throws CelError, CostLimitError, RangeError for variables that nest too deeply */
  *evaluate({ program, slots }: CompiledExpression, budget: Budget): Steps<Value> {
    const { remaining } = budget;
    for (;;) {
      try {
        const values = this.#values(slots);
        const { evaluateInSteps } = program;
        return evaluateInSteps === undefined
          ? program.evaluate(values, budget)
          : yield* evaluateInSteps(values, budget);
      } catch (thrown) {
        if (!(thrown instanceof PendingVariable)) throw thrown;
        budget.remaining = remaining;
        yield* thrown.evaluate();
      }
    }
  }

  /** The values by slot. */
  #values(slots: readonly (VariableName | undefined)[]): Value[] {
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

/** An evaluation needs a variable that takes long: it is repeated when the variable is known. */
class PendingVariable extends Interruption {
  readonly evaluate: () => Steps<void>;

  constructor(evaluate: () => Steps<void>) {
    super('a variable is not known yet');
    this.evaluate = evaluate;
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
    const known = this.#known.get(identifier);
    if (known === undefined) throw new PendingVariable(() => this.#evaluate(identifier, compiled));
    if (known instanceof CelError) throw known;
    return known;
  }

  *#evaluate(name: string, compiled: Compilation): Steps<void> {
    if (this.#depth === maxVariableDepth) throw new RangeError('the variables nest too deeply');
    this.#depth++;
    try {
      this.#known.set(name, yield* this.#valueOf(name, compiled));
    } finally {
      this.#depth--;
    }
  }

  *#valueOf(name: string, compiled: Compilation): Steps<Value | CelError> {
    if (compiled instanceof ExpressionFault) {
      return new CelError(`composited variable ${quote(name)} fails to compile: ${compiled.message}`);
    }
    const budget = new Budget(maxCallCost);
    try {
      return yield* this.#activation.evaluate(compiled, budget);
    } catch (thrown) {
      if (!(thrown instanceof CelError || thrown instanceof CostLimitError)) throw thrown;
      return new CelError(`composited variable ${quote(name)} fails to evaluate: ${thrown.message}`);
    } finally {
      this.#cost += maxCallCost - budget.remaining;
    }
  }
}
