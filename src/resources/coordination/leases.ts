import { type FieldError, fieldError } from '../../meta/index.ts';
import { age, name } from '../cells.ts';
import { type ObjectOf, resource } from '../define.ts';
import { Lease } from '../types/coordination-v1.ts';

export const leases = resource({
  group: 'coordination.{domain}',
  plural: 'leases',
  kind: 'Lease',
  schema: Lease,
  columns: [name, ['Holder', ({ spec }) => spec?.holderIdentity ?? ''], age],
  strategy: {
    createOnUpdate: true,
    unconditionalUpdate: false,
    prepareCreate: dropElection,
    prepareUpdate: dropElection,
    validate: ({ spec }) => validateDuration(spec?.leaseDurationSeconds),
  },
});

/** Nothing here elects who holds a lease, so it tells nothing of how to. */
function dropElection({ spec }: ObjectOf<typeof Lease>): void {
  delete spec?.strategy;
  delete spec?.preferredHolder;
}

const validateDuration = (seconds: number | undefined): FieldError[] =>
  seconds === undefined || seconds > 0
    ? []
    : [fieldError.invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')];
