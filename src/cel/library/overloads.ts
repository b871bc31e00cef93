/** Overloads in a line each. */
import type { Overload } from '../library.ts';
import type { CelType } from '../types.ts';

type Costs = Partial<Pick<Overload, 'cost' | 'estimate'>>;

/** `f(a, b)`; without costs it costs 1. */
export const functionOf = (
  id: string,
  args: readonly CelType[],
  result: CelType,
  call: Overload['call'],
  costs?: Costs,
): Overload => ({ id, args, result, call, ...costs });

/** `a.f(b)`; the receiver is the first argument. */
export const methodOf = (
  id: string,
  args: readonly CelType[],
  result: CelType,
  call: Overload['call'],
  costs?: Costs,
): Overload => ({ id, args, result, member: true, call, ...costs });
