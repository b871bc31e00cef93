/** Environments: the merged declarations of libraries, which environments of the same libraries share, and variables. */
import type { Environment, EnvironmentOptions, Reference } from '../environment.ts';
import type { Library, Overload } from '../library.ts';
import type { ParseOptions } from '../syntax/parse.ts';
import { type CelType, type LiteralObjectType, metaType } from '../types.ts';
import { controlLibrary } from './control.ts';
import { namedTypes } from './format.ts';
import { hasParameters, overlap } from './unify.ts';

interface Declarations {
  readonly functions: ReadonlyMap<string, readonly Overload[]>;
  readonly types: ReadonlyMap<string, CelType>;
  readonly typeOfName: (name: string) => LiteralObjectType | undefined;
  readonly syntax: ParseOptions;
}

/** By the list of libraries: one environment for each of thousands of schema nodes must cost its variables alone. */
const merged = new WeakMap<readonly Library[], Declarations>();

/** Overloads whose signatures have type parameters. */
const generic = new WeakSet<Overload>();
export const isGeneric = (overload: Overload): boolean => generic.has(overload);

/**
 * An environment of the variables and libraries. The declarations of a list of libraries are merged once.
 * @throws Error when overloads, types or variables collide, which is a mistake in the program
 */
export function createEnvironment(options: EnvironmentOptions): Environment {
  let declarations = merged.get(options.libraries);
  if (declarations === undefined) {
    declarations = mergeLibraries(options.libraries);
    merged.set(options.libraries, declarations);
  }
  const variables = new Map<string, { slot: number; type: CelType }>();
  for (const [slot, { name, type }] of options.variables.entries()) {
    if (variables.has(name)) throw new Error(`variable ${name} is declared twice`);
    if (hasParameters(type)) throw new Error(`the type of variable ${name} has type parameters`);
    variables.set(name, { slot, type });
  }
  return { variables, ...declarations, container: options.container ?? '' };
}

function mergeLibraries(libraries: readonly Library[]): Declarations {
  const functions = new Map<string, Overload[]>();
  const types = new Map<string, CelType>(Object.entries(namedTypes));
  const syntax: { -readonly [name in keyof ParseOptions]: ParseOptions[name] } = {};
  for (const library of [controlLibrary, ...libraries]) {
    Object.assign(syntax, library.syntax);
    for (const [name, overloads] of Object.entries(library.functions)) {
      const all = functions.get(name) ?? [];
      for (const overload of overloads) {
        const other = all.find((candidate) => collide(candidate, overload));
        if (other !== undefined) throw new Error(`overloads ${other.id} and ${overload.id} of ${name} collide`);
        all.push(overload);
        if (hasParameters(overload.result) || overload.args.some(hasParameters)) generic.add(overload);
      }
      functions.set(name, all);
    }
    for (const [name, type] of Object.entries(library.types ?? {})) {
      if (types.has(name)) throw new Error(`type ${name} is declared twice`);
      types.set(name, type);
    }
  }
  const families = libraries.flatMap(({ typeOfName }) => typeOfName ?? []);
  return { functions, types, syntax, typeOfName: (name) => firstOf(families, name) };
}

function firstOf(families: readonly NonNullable<Library['typeOfName']>[], name: string): LiteralObjectType | undefined {
  for (const typeOfName of families) {
    const type = typeOfName(name);
    if (type !== undefined) return type;
  }
  return undefined;
}

function collide(first: Overload, second: Overload): boolean {
  if (first.id === second.id) return true;
  if ((first.member ?? false) !== (second.member ?? false) || first.args.length !== second.args.length) return false;
  return first.args.every((arg, i) => overlap(arg, second.args[i] as CelType));
}

/** The overloads of a function and its name in full; undefined: not declared. */
export function resolveFunction(environment: Environment, name: string): readonly Overload[] | undefined {
  return resolve(environment.container, name, (candidate) => environment.functions.get(candidate));
}

/** Resolves a name that is not a local variable: a declared variable or a type. */
export function resolveName(
  environment: Environment,
  name: string,
): { readonly type: CelType; readonly reference: Reference } | undefined {
  return resolve(environment.container, name, (candidate) => {
    const variable = environment.variables.get(candidate);
    if (variable !== undefined) {
      return { type: variable.type, reference: { kind: 'variable', name: candidate, slot: variable.slot } };
    }
    const type = environment.types.get(candidate) ?? environment.typeOfName(candidate);
    return type === undefined ? undefined : { type: metaType(type), reference: { kind: 'type', type } };
  });
}

/** Looks a name up in the container, in those around it, then at the root; with a leading dot at the root alone. */
function resolve<T>(container: string, name: string, find: (candidate: string) => T | undefined): T | undefined {
  if (name.startsWith('.')) return find(name.slice(1));
  for (let scope = container; scope !== ''; scope = scope.slice(0, Math.max(scope.lastIndexOf('.'), 0))) {
    const found = find(`${scope}.${name}`);
    if (found !== undefined) return found;
  }
  return find(name);
}
