/** Compiled nodes of an expression, until they are part of another one. */
import { CelError, type Value } from '../values.ts';
import { type Attribute, type Base, evaluateAttribute, resolveAttribute, type SlotInput } from './attributes.ts';
import { type Frame, frameOf, type Outcome, type Runnable, type Step } from './budget.ts';

/** The result of compiling a node. Attributes stay open: a select or index above adds its qualifier to them. */
export type Compiled =
  | { readonly kind: 'constant'; readonly value: Value }
  | { readonly kind: 'attribute'; readonly attribute: Attribute }
  | { readonly kind: 'step'; readonly runnable: Runnable };

export const constant = (value: Value): Compiled => ({ kind: 'constant', value });
export const computed = (runnable: Runnable): Compiled => ({ kind: 'step', runnable });
export const attribute = (base: Base, inputs: readonly SlotInput[] = []): Compiled => ({
  kind: 'attribute',
  attribute: { base, inputs, qualifiers: [], test: false },
});

export function runnableOf(node: Compiled): Runnable {
  if (node.kind === 'step') return node.runnable;
  if (node.kind === 'attribute') return evaluateAttribute(node.attribute);
  const { value } = node;
  return { step: () => value, long: undefined };
}

/** {@link runnableOf} for an operand of an attribute, which covers its own cost. */
export const innerRunnableOf = (node: Compiled): Runnable =>
  node.kind === 'attribute' ? resolveAttribute(node.attribute) : runnableOf(node);

export const isLong = ({ long }: Runnable): boolean => long !== undefined;

export const readSlot =
  (slot: number): Step =>
  ({ locals }) =>
    locals[slot] as Outcome;

/** Folds a list or map of constants into a constant, unless its evaluation fails. */
export function folded(runnable: Runnable, parts: readonly Compiled[]): Compiled {
  if (!parts.every(({ kind }) => kind === 'constant')) return computed(runnable);
  const outcome = runnable.step(constantFrame());
  return outcome instanceof CelError ? computed(runnable) : constant(outcome);
}

export function evaluateConstant(step: Step): Value {
  const outcome = step(constantFrame());
  if (outcome instanceof CelError) throw outcome;
  return outcome;
}

const constantFrame = (): Frame => frameOf([], 0, Number.POSITIVE_INFINITY);
