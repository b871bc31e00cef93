/** The standard functions and operators, except those of control (`&&`, `||`, `?:`). */
import type { Library } from '../library.ts';
import { arithmetic } from './standard-arithmetic.ts';
import { collections } from './standard-collections.ts';
import { comparison } from './standard-comparison.ts';
import { conversions } from './standard-conversions.ts';
import { timeFields } from './standard-times.ts';

export const standardLibrary: Library = {
  name: 'standard',
  functions: { ...arithmetic, ...comparison, ...collections, ...conversions, ...timeFields },
};
