/** The types of metrics/v1beta1. */
import { duration, field, type Infer, list, map, quantity, string, struct, time } from '../schema/index.ts';
import { ObjectMeta, typeMeta } from './meta-v1.ts';

const usage = map(quantity);

export const NodeMetrics = struct('metrics/v1beta1.NodeMetrics', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  timestamp: field(2, time, { required: true }),
  window: field(3, duration, { required: true }),
  usage: field(4, usage, { required: true }),
});
export type NodeMetrics = Infer<typeof NodeMetrics>;

export const ContainerMetrics = struct('metrics/v1beta1.ContainerMetrics', {
  name: field(1, string, { required: true }),
  usage: field(2, usage, { required: true }),
});

export const PodMetrics = struct('metrics/v1beta1.PodMetrics', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  timestamp: field(2, time, { required: true }),
  window: field(3, duration, { required: true }),
  containers: field(4, list(ContainerMetrics), { required: true }),
});
export type PodMetrics = Infer<typeof PodMetrics>;
