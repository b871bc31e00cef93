/** Overloads in a line each, and functions that they share. */
import type { Overload } from '../library.ts';
import type { CelType } from '../types.ts';
import { CelError, type Value } from '../values.ts';

type Costs = Partial<Pick<Overload, 'cost' | 'estimate' | 'steps' | 'readsLists' | 'checkConstants'>>;

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

/** Whether a call succeeds: `isIP` of `ip`. */
export const succeeds =
  (call: Overload['call']) =>
  (...args: Value[]): boolean => {
    try {
      call(...args);
      return true;
    } catch (error) {
      if (error instanceof CelError) return false;
      throw error;
    }
  };
