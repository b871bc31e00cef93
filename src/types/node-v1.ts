/** The types of node/v1. */
import { field, type Infer, list, map, quantity, string, struct } from '../schema/index.ts';
import { Toleration } from './core-v1.ts';
import { ObjectMeta, typeMeta } from './meta-v1.ts';

export const Overhead = struct('node/v1.Overhead', {
  podFixed: field(1, map(quantity)),
});

export const Scheduling = struct('node/v1.Scheduling', {
  nodeSelector: field(1, map(string), { mapType: 'atomic' }),
  tolerations: field(2, list(Toleration), { listType: 'atomic' }),
});

export const RuntimeClass = struct('node/v1.RuntimeClass', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  handler: field(2, string, { required: true, emptyOk: true, always: true }),
  overhead: field(3, Overhead, { nullable: true }),
  scheduling: field(4, Scheduling, { nullable: true }),
});
export type RuntimeClass = Infer<typeof RuntimeClass>;
