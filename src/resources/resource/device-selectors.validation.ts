/** Validation of the expressions of device selectors: they compile, give a bool and do not cost too much. */
import { deviceSelectorFault } from '../../admission/index.ts';
import { type FieldError, fieldError, type Release, type Steps } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { DeviceSelector, ResourceClaimSpec } from '../../types/resource-v1beta2.ts';
import { MAX_EXPRESSION } from './devices.validation.ts';

type Selectors = readonly Infer<typeof DeviceSelector>[] | undefined;

/** Selectors, and their path in errors. */
export type PlacedSelectors = readonly [selectors: Selectors, path: string];

/** Those of the requests of a claim. */
export function selectorsOfClaim({ devices }: ResourceClaimSpec, path: string): PlacedSelectors[] {
  return (devices?.requests ?? []).flatMap(({ exactly, firstAvailable = [] }, i): PlacedSelectors[] => {
    const at = `${path}.devices.requests[${i}]`;
    return [
      ...firstAvailable.map(({ selectors }, k): PlacedSelectors => [selectors, `${at}.firstAvailable[${k}].selectors`]),
      [exactly?.selectors, `${at}.exactly.selectors`],
    ];
  });
}

/** The errors of expressions; those that are in `old` may use what new ones may not. Undefined: there is no expression. */
export function validateExpressions(
  places: readonly PlacedSelectors[],
  old: Selectors,
  compatible: Release | undefined,
): Steps<FieldError[]> | undefined {
  return places.some(([selectors]) => selectors !== undefined) ? expressionErrors(places, old, compatible) : undefined;
}

function* expressionErrors(
  places: readonly PlacedSelectors[],
  old: Selectors,
  compatible: Release | undefined,
): Steps<FieldError[]> {
  const stored = new Set(old?.map(({ cel }) => cel?.expression ?? ''));
  const errors: FieldError[] = [];
  for (const [selectors = [], path] of places) {
    for (const [i, { cel }] of selectors.entries()) {
      const { expression = '' } = cel ?? {};
      if (cel === undefined || Buffer.byteLength(expression) > MAX_EXPRESSION) continue;
      yield;
      const at = `${path}[${i}].cel.expression`;
      const fault = yield* deviceSelectorFault(expression, { isStored: stored.has(expression), compatible });
      if (fault === 'too complex') errors.push(fieldError.forbidden(at, 'too complex, exceeds cost limit'));
      else if (fault !== undefined) errors.push(fieldError.invalid(at, expression, fault.invalid));
    }
  }
  return errors;
}
