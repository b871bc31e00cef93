/** Compiles the expressions of policies and match conditions. */
import {
  authorizerType,
  baseLibraries,
  boolType,
  CelError,
  type CelType,
  type CheckedExpression,
  checkInSteps,
  checkNewInSteps,
  compileExpression,
  createEnvironment,
  dynType,
  type EnvironmentOptions,
  ExpressionError,
  expressionLibraries,
  jsonPatchType,
  listType,
  mapType,
  mutationLibrary,
  nullType,
  type ObjectField,
  type ObjectType,
  objectType,
  type Program,
  resourceCheckType,
  stringType,
  typeName,
} from '../../cel/index.ts';
import { compatibleRelease, defaultFeatures, expressionTypes, type Release, type Steps } from '../../meta/index.ts';
import { namespaceType, requestType } from './declarations.ts';

/** The variables of expressions. `variables` has the variables of a policy as its fields. */
export type VariableName =
  | 'object'
  | 'oldObject'
  | 'namespaceObject'
  | 'request'
  | 'params'
  | 'authorizer'
  | 'authorizer.requestResource'
  | 'variables';

export interface CompiledExpression {
  readonly source: string;
  readonly type: CelType;
  readonly program: Program;
  /** The variables by slot; undefined: the expression does not use it. */
  readonly slots: readonly (VariableName | undefined)[];
  /** Whether its evaluation may ask the authorizer. */
  readonly asksAuthorizer: boolean;
}

/** Why an expression cannot be evaluated. */
export class ExpressionFault {
  readonly source: string;
  /** The problem, without the time at which it was found. */
  readonly detail: string;
  readonly message: string;
  /** It is valid as it is written, but cannot be made into a program. */
  readonly isInternal: boolean;

  constructor(source: string, detail: string, prefix = '', isInternal = false) {
    this.source = source;
    this.detail = detail;
    this.message = prefix + detail;
    this.isInternal = isInternal;
  }
}

export type Compilation = CompiledExpression | ExpressionFault;

/** Feature gates decide about new expressions with selectors in authorization checks, which are on by default. */
const libraries = baseLibraries(defaultFeatures);
const admissionLibraries = expressionLibraries(libraries);
const mutationLibraries = expressionLibraries([...libraries, { library: mutationLibrary, since: '1.0' }]);

export interface CompilerOptions {
  /** Whether expressions have `params`. */
  readonly params: boolean;
  /** Whether expressions have `variables`. */
  readonly composed: boolean;
  /** The release in which new expressions must be valid. Default: `compatibleRelease`. */
  readonly compatible?: Release | undefined;
  /** The types of `object` and `oldObject`; default: dyn. */
  readonly objectType?: CelType;
  /** The type of `params`; default: dyn. */
  readonly paramsType?: CelType;
}

/** The types of results by the purpose of the expression. */
export const resultTypes = {
  condition: [boolType],
  message: [stringType],
  annotation: [stringType, nullType],
  applyConfiguration: [objectType],
  jsonPatch: [listType(jsonPatchType)],
} satisfies { readonly [purpose: string]: readonly CelType[] };

export interface ExpressionOptions {
  /** The result has one of these types exactly; absent: any. */
  readonly returns?: readonly CelType[];
  /** It is stored already and may use what new expressions cannot. */
  readonly isStored: boolean;
  /** Whether it has `authorizer`; default true. */
  readonly authorizer?: boolean;
  /** Whether it may construct objects and patches; default false. */
  readonly mutates?: boolean;
}

/** Types of variables that nest deeper are dyn for the expressions after them. */
const maxTypeDepth = 16;

/** The compiler of the expressions of one policy: each may use the variables that were added before it. */
export class ExpressionCompiler {
  /** By name, in order. */
  readonly variables = new Map<string, Compilation>();
  readonly variablesType: ObjectType;
  readonly #fields = new Map<string, ObjectField>();
  readonly #options: CompilerOptions;
  #variablesAsk = false;

  constructor(options: CompilerOptions) {
    this.#options = options;
    this.variablesType = {
      kind: 'object',
      name: `${expressionTypes}.variables`,
      field: (identifier) => this.#fields.get(identifier),
      identifiers: () => this.#fields.keys(),
    };
  }

  /** Compiles a variable; expressions compiled afterwards have it with its type. */
  *addVariableInSteps(name: string, source: string, isStored: boolean): Steps<Compilation> {
    const compiled = yield* this.compileInSteps(source, { isStored });
    this.variables.set(name, compiled);
    const type = compiled instanceof ExpressionFault ? dynType : declared(compiled.type, maxTypeDepth);
    this.#fields.set(name, { type, property: name, read: () => null });
    this.#variablesAsk ||= !(compiled instanceof ExpressionFault) && compiled.asksAuthorizer;
    return compiled;
  }

  *compileInSteps(source: string, options: ExpressionOptions): Steps<Compilation> {
    const { returns, isStored, authorizer = true, mutates = false } = options;
    try {
      const checked = yield* this.#check(source, isStored, this.#variablesOf(authorizer), mutates);
      yield;
      const mismatch = returns && mismatchOf(checked.type, returns);
      if (mismatch !== undefined) return new ExpressionFault(source, mismatch);
      const { variables: used } = checked;
      const names = checked.environment.variables.keys() as MapIterator<VariableName>;
      return {
        source,
        type: checked.type,
        program: compileExpression(checked),
        slots: Array.from(names, (name) => (used.has(name) ? name : undefined)),
        asksAuthorizer:
          used.has('authorizer') ||
          used.has('authorizer.requestResource') ||
          (this.#variablesAsk && used.has('variables')),
      };
    } catch (thrown) {
      if (thrown instanceof ExpressionError) {
        return new ExpressionFault(source, thrown.message, 'compilation failed: ');
      }
      // A constant cannot be converted.
      if (thrown instanceof CelError) {
        return new ExpressionFault(source, thrown.message, 'program instantiation failed: ', true);
      }
      throw thrown;
    }
  }

  #check(
    source: string,
    isStored: boolean,
    variables: EnvironmentOptions['variables'],
    mutates: boolean,
  ): Steps<CheckedExpression> {
    const { compatible = compatibleRelease } = this.#options;
    const all = mutates ? mutationLibraries : admissionLibraries;
    return isStored
      ? checkInSteps(createEnvironment({ variables, libraries: all.ofStored }), source)
      : checkNewInSteps({ variables }, all, compatible, source);
  }

  #variablesOf(authorizer: boolean): EnvironmentOptions['variables'] {
    const { params, composed, objectType = dynType, paramsType } = this.#options;
    const variables: { name: VariableName; type: CelType }[] = [
      { name: 'object', type: objectType },
      { name: 'oldObject', type: objectType },
      { name: 'namespaceObject', type: namespaceType },
      { name: 'request', type: requestType },
    ];
    if (params) variables.push({ name: 'params', type: paramsType ?? dynType });
    if (authorizer) {
      variables.push(
        { name: 'authorizer', type: authorizerType },
        { name: 'authorizer.requestResource', type: resourceCheckType },
      );
    }
    if (composed) variables.push({ name: 'variables', type: this.variablesType });
    return variables;
  }
}

/** The problem with the type of a result; undefined if it is one of the expected types. */
function mismatchOf(type: CelType, returns: readonly CelType[]): string | undefined {
  const name = typeName(type);
  const expected = returns.map(typeName);
  if (expected.includes(name)) return undefined;
  const what = expected.length === 1 ? expected[0] : `one of [${expected.join(' ')}]`;
  return `must evaluate to ${what} but got ${name}`;
}

/** The type of a variable, as the reference server declares it: of objects and optionals nothing is known. */
function declared(type: CelType, depth: number): CelType {
  switch (type.kind) {
    case 'list':
      return depth === 0 ? dynType : listType(declared(type.element, depth - 1));
    case 'map':
      return depth === 0 ? dynType : mapType(declared(type.key, depth - 1), declared(type.value, depth - 1));
    case 'object':
    case 'optional':
    case 'opaque':
    case 'type':
    case 'nullable':
    case 'parameter':
      return dynType;
    default:
      return type;
  }
}
