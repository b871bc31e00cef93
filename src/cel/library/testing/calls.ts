/** Calls of overloads in tests. */
import type { CallEstimate, EstimatedArgument, Library, Overload, Range } from '../../library.ts';
import { type CelType, dynType } from '../../types.ts';
import type { Value } from '../../values.ts';

/** The overload of an id, or the first one of the function of a name. */
export function overloadOf({ functions }: Library, name: string): Overload {
  const overloads = Object.values(functions).flat();
  const found = overloads.find(({ id }) => id === name) ?? functions[name]?.[0];
  if (found === undefined) throw new Error(`no function or overload ${name}`);
  return found;
}

/** Calls an overload of a library. */
export const callOf =
  (library: Library) =>
  (name: string, ...args: Value[]): Value =>
    overloadOf(library, name).call(...args);

/** The cost of a call of an overload. */
export const costOf =
  (library: Library) =>
  (name: string, ...args: Value[]): number => {
    const { call, cost } = overloadOf(library, name);
    return cost?.(args, call(...args)) ?? 1;
  };

/** The estimate of a call whose arguments have these sizes. */
export const estimateOf =
  (library: Library) =>
  (name: string, ...args: readonly (Partial<EstimatedArgument> | Range)[]): CallEstimate =>
    overloadOf(library, name).estimate?.(args.map(argument)) ?? { cost: { min: 1, max: 1 } };

function argument(given: Partial<EstimatedArgument> | Range): EstimatedArgument {
  if ('min' in given) return argument({ size: given });
  const unknown: { size: Range; type: CelType } = { size: { min: 0, max: 2 ** 64 }, type: dynType };
  return { ...unknown, literal: undefined, elementSize: undefined, ...given };
}
