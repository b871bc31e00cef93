/** The types of coordination/v1. */
import { field, type Infer, int32, microTime, string, struct } from '../schema/index.ts';
import { ObjectMeta, typeMeta } from './meta-v1.ts';

export const LeaseSpec = struct('coordination/v1.LeaseSpec', {
  holderIdentity: field(1, string, { nullable: true }),
  leaseDurationSeconds: field(2, int32, { nullable: true }),
  acquireTime: field(3, microTime, { nullable: true }),
  renewTime: field(4, microTime, { nullable: true }),
  leaseTransitions: field(5, int32, { nullable: true, min: 0 }),
  strategy: field(6, string, {
    nullable: true,
    known: ['OldestEmulationVersion'],
    open: true,
    gate: 'CoordinatedLeaderElection',
  }),
  preferredHolder: field(7, string, { nullable: true, gate: 'CoordinatedLeaderElection' }),
});
export type LeaseSpec = Infer<typeof LeaseSpec>;

export const Lease = struct('coordination/v1.Lease', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, LeaseSpec),
});
export type Lease = Infer<typeof Lease>;
