import { type FieldError, fieldError, qualifiedName } from '../../meta/index.ts';
import { Lease, type LeaseSpec } from '../../types/coordination-v1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { byRule, oneOf } from '../shared/field-rules.ts';

export const leases = resource({
  group: 'coordination.{domain}',
  plural: 'leases',
  kind: 'Lease',
  schema: Lease,
  lifecycle: { introduced: '1.14' },
  columns: [name, ['Holder', ({ spec }) => spec?.holderIdentity ?? ''], age],
  strategy: {
    metadataChecks: [0, 1],
    bareFinalizers: true,
    createOnUpdate: true,
    unconditionalUpdate: false,
    validate: ({ spec = {} }) => validateSpec(spec),
  },
});

function validateSpec({ leaseDurationSeconds: seconds, preferredHolder, strategy }: LeaseSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (seconds !== undefined && seconds <= 0) {
    errors.push(fieldError.invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0'));
  }
  if (strategy !== undefined) errors.push(...validateStrategy(strategy));
  if ((preferredHolder ?? '') !== '' && (strategy ?? '') === '') {
    errors.push(fieldError.forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined'));
  }
  return errors;
}

/** Validates a strategy: a built-in one, or one with a domain prefix. */
export function validateStrategy(strategy: string): FieldError[] {
  // The reference server repeats `strategy` in this path.
  const path = 'spec.strategy.strategy';
  return strategy.includes('/')
    ? byRule(path, strategy, qualifiedName)
    : oneOf(path, strategy, ['OldestEmulationVersion']);
}
