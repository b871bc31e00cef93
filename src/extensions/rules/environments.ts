/** The environments of rules: `self`, `oldSelf`, and the function libraries. */
import { type CelType, createEnvironment, type Environment, type Library, optionalType } from '../../cel/index.ts';
import type { Rule } from '../structural.ts';

/** What rules can call that a definition stores already; a server of the next version may have stored them. */
export const storedLibraries: readonly Library[] = [];
/** What new rules can call: what servers of the version before know too, so that it can return. */
export const newLibraries: readonly Library[] = [];

/** The slots of the variables. */
export const selfSlot = 0;
export const oldSelfSlot = 1;

/** The environment of a rule on values of the type. */
export function environmentOf(type: CelType, { optionalOldSelf }: Rule, libraries: readonly Library[]): Environment {
  return createEnvironment({
    variables: [
      { name: 'self', type },
      { name: 'oldSelf', type: optionalOldSelf === true ? optionalType(type) : type },
    ],
    libraries,
  });
}
