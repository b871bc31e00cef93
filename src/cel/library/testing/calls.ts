/** Calls of overloads in tests. */
import type { CallEstimate, EstimatedArgument, Library, Overload, Range } from '../../library.ts';
import { type CelType, dynType } from '../../types.ts';
import type { Value } from '../../values.ts';

function overloadOf(library: Library, id: string): Overload {
  const overloads = Object.values(library.functions).flat();
  const found = overloads.find((overload) => overload.id === id);
  if (found === undefined) throw new Error(`no overload ${id}`);
  return found;
}

/** Calls an overload of a library. */
export const callOf =
  (library: Library) =>
  (id: string, ...args: Value[]): Value =>
    overloadOf(library, id).call(...args);

/** What a call of an overload costs. */
export const costOf =
  (library: Library) =>
  (id: string, ...args: Value[]): number => {
    const { call, cost } = overloadOf(library, id);
    return cost?.(args, call(...args)) ?? 1;
  };

/** The estimate of a call whose arguments have these sizes. */
export const estimateOf =
  (library: Library) =>
  (id: string, ...args: readonly (Partial<EstimatedArgument> | Range)[]): CallEstimate =>
    overloadOf(library, id).estimate?.(args.map(argument)) ?? { cost: { min: 1, max: 1 } };

function argument(given: Partial<EstimatedArgument> | Range): EstimatedArgument {
  if ('min' in given) return argument({ size: given });
  const unknown: { size: Range; type: CelType } = { size: { min: 0, max: 2 ** 64 }, type: dynType };
  return { ...unknown, literal: undefined, elementSize: undefined, ...given };
}
