import type { ApiObject } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { ResourceClaim as V1alpha3 } from '../../types/resource-v1alpha3.ts';
import { ResourceClaim } from '../../types/resource-v1beta1.ts';
import { ResourceClaim as V1beta2 } from '../../types/resource-v1beta2.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { isNew, same, unchanged } from '../shared/field-rules.ts';
import { claimFromV1beta2, claimToV1beta2 } from './conversion.ts';
import { selectorsOfClaim, validateExpressions } from './device-selectors.validation.ts';
import { validateClaimStatus } from './resource-claims.status-validation.ts';
import { defaultRequests, requestNamesOf, validateClaimSpec } from './resource-claims.validation.ts';

type Claim = ObjectOf<typeof ResourceClaim>;

/** The spec in v1beta2 form. */
const specOf = (claim: Claim) => (claimToV1beta2(claim as ApiObject) as unknown as ObjectOf<typeof V1beta2>).spec ?? {};

export const resourceClaims = resource({
  group: 'resource.{domain}',
  plural: 'resourceclaims',
  kind: 'ResourceClaim',
  version: 'v1beta1',
  schema: ResourceClaim,
  lifecycle: { introduced: '1.32', deprecated: '1.35', removed: '1.38' },
  versions: [
    {
      version: 'v1beta2',
      schema: V1beta2,
      lifecycle: { introduced: '1.33', deprecated: '1.36', removed: '1.39' },
      toStorage: claimFromV1beta2,
      fromStorage: claimToV1beta2,
    },
    {
      version: 'v1alpha3',
      schema: V1alpha3,
      lifecycle: {
        introduced: '1.31',
        deprecated: '1.34',
        removed: '1.37',
        replacement: 'resource.{domain}/v1beta1 ResourceClaim',
      },
    },
  ],
  gate: 'DynamicResourceAllocation',
  status: true,
  columns: [name, ['State', stateOf], age],
  strategy: {
    defaults: ({ spec }) => defaultRequests(spec ?? {}),
    validate: (claim) => (isNew(claim) ? validateClaimSpec(specOf(claim), 'spec', false) : []),
    validateInSteps: (claim, old, { compatible }) =>
      old === undefined
        ? validateExpressions(selectorsOfClaim(specOf(claim), 'spec'), undefined, compatible)
        : undefined,
    validateUpdate: (claim, old) => {
      const spec = specOf(claim);
      const { status = {}, metadata } = claim;
      const deleted = metadata.deletionTimestamp !== undefined;
      return [
        ...unchanged('spec', claim.spec, old.spec),
        ...(same(claim.spec, old.spec) ? [] : validateClaimSpec(spec, 'spec', true)),
        ...(same(status, old.status ?? {})
          ? []
          : validateClaimStatus(status, old.status ?? {}, requestNamesOf(spec), deleted)),
      ];
    },
  },
});

function stateOf({ metadata, status }: Claim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const states = isDeleted ? ['deleted'] : [];
  if (status?.allocation === undefined) {
    if (!isDeleted) states.push('pending');
  } else {
    states.push('allocated');
    if ((status.reservedFor ?? []).length > 0) states.push('reserved');
  }
  return states.join(',');
}
