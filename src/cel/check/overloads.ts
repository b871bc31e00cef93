import type { Overload } from '../library.ts';
import { type CelType, dynType } from '../types.ts';
import { isGeneric } from './environment.ts';
import type { TypeVariable, Unifier } from './unify.ts';

/**
 * The overloads that arguments of these types may match, and the type of the result: dyn where they do not agree.
 * Undefined: none matches.
 */
export function resolveOverloads(
  unifier: Unifier,
  overloads: readonly Overload[],
  args: readonly CelType[],
  member: boolean,
): { readonly overloads: readonly Overload[]; readonly type: CelType } | undefined {
  const matching: Overload[] = [];
  let type: CelType | undefined;
  for (const overload of overloads) {
    if (overload.args.length !== args.length || (overload.member ?? false) !== member) continue;
    const result = match(unifier, overload, args);
    if (result === undefined) continue;
    matching.push(overload);
    if (type === undefined) type = result;
    else if (type.kind !== 'dyn' && !unifier.equal(result, type)) type = dynType;
  }
  return type === undefined ? undefined : { overloads: matching, type };
}

/** The type of the result; undefined when the arguments do not match. */
function match(unifier: Unifier, overload: Overload, args: readonly CelType[]): CelType | undefined {
  if (!isGeneric(overload)) return unifier.assignableAll(args, overload.args) ? overload.result : undefined;
  const variables = new Map<string, TypeVariable>();
  const parameters = overload.args.map((arg) => unifier.instantiate(arg, variables));
  if (!unifier.assignableAll(args, parameters)) return undefined;
  return unifier.substitute(unifier.instantiate(overload.result, variables));
}
