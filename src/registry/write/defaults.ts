import type { ApiObject, Steps } from '../../meta/index.ts';
import type { StrategyContext } from '../resource/definition.ts';
import type { Resource } from '../resource/resource.ts';

/** Sets the defaults of a kind that depend on other fields. */
export function* setDefaults({ definition }: Resource, object: ApiObject, context: StrategyContext): Steps<void> {
  const steps = definition.strategy.defaults?.(object, context);
  if (steps) yield* steps;
}
