/**
 * The signatures of the operators that do not evaluate all their arguments. The evaluator has them in its own code.
 */
import type { Library, Overload } from '../library.ts';
import { boolType, type CelType, parameterType } from '../types.ts';

const a = parameterType('A');
const control = (id: string, args: readonly CelType[], result: CelType): Overload => ({
  id,
  args,
  result,
  call: () => {
    throw new Error(`${id} is called`);
  },
});

export const controlLibrary: Library = {
  name: 'control',
  functions: {
    '_&&_': [control('logical_and', [boolType, boolType], boolType)],
    '_||_': [control('logical_or', [boolType, boolType], boolType)],
    '_?_:_': [control('conditional', [boolType, a, a], a)],
    '@not_strictly_false': [control('not_strictly_false', [boolType], boolType)],
  },
};
