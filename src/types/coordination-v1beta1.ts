/** The types of coordination/v1beta1. */
import { field, microTime, string, struct } from '../schema/index.ts';
import { ObjectMeta, typeMeta } from './meta-v1.ts';

export const LeaseCandidateSpec = struct('coordination/v1beta1.LeaseCandidateSpec', {
  leaseName: field(1, string, { required: true, emptyOk: true, always: true }),
  pingTime: field(2, microTime, { nullable: true }),
  renewTime: field(3, microTime, { nullable: true }),
  binaryVersion: field(4, string, { required: true, emptyOk: true, always: true }),
  emulationVersion: field(5, string),
  strategy: field(6, string, { required: true, emptyOk: true, known: ['OldestEmulationVersion'], open: true }),
});

export const LeaseCandidate = struct('coordination/v1beta1.LeaseCandidate', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, LeaseCandidateSpec),
});
