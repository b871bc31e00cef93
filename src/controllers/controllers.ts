import { clusterRoleAggregationController } from './cluster-role-aggregation.ts';
import { garbageCollector } from './garbage-collector/garbage-collector.ts';
import { namespaceController } from './namespaces/namespace-controller.ts';
import { serviceAccountController } from './service-accounts.ts';
import type { Controller } from './types.ts';

/** All controllers, in the order in which they start. */
export const allControllers: readonly Controller[] = [
  garbageCollector,
  namespaceController,
  serviceAccountController,
  clusterRoleAggregationController,
];
