import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { Lease } from '../types/coordination-v1.ts';

export const leases = resource({
  group: 'coordination.{domain}',
  plural: 'leases',
  kind: 'Lease',
  schema: Lease,
  columns: [name, ['Holder', ({ spec }) => spec?.holderIdentity ?? ''], age],
  strategy: { createOnUpdate: true, unconditionalUpdate: false },
});
