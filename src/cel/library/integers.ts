/** Integers of 64 bits, exactly. */
import { CelError, intOf, Uint, type Value } from '../values.ts';

const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;
const maxUint = 2n ** 64n - 1n;

export const intOverflow = () => new CelError('integer overflow');
export const uintOverflow = () => new CelError('unsigned integer overflow');

/** An int as an exact integer. @throws CelError for a value of another type */
export function exactOf(value: Value): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value !== 'number') throw new CelError('no such overload');
  return BigInt(value);
}

/** The int of an exact integer. @throws CelError when it does not have 64 bits */
export function checkedInt(exact: bigint): number | bigint {
  if (exact < minInt || exact > maxInt) throw intOverflow();
  return intOf(exact);
}

/** The uint of an exact integer. @throws CelError when it is negative or does not have 64 bits */
export function checkedUint(exact: bigint): Uint {
  if (exact < 0n || exact > maxUint) throw uintOverflow();
  return new Uint(exact);
}

/** An int as an index of a string or list: not exact beyond 2^53, where it is out of every range. */
export const indexNumber = (value: Value): number => Number(value as number | bigint);
