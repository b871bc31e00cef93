import { clusterRoleAggregationController } from './cluster-role-aggregation.ts';
import { serviceAccountController } from './service-accounts.ts';
import type { Controller } from './types.ts';
import { daemonSetController } from './workloads/daemon-sets/controller.ts';
import { deploymentController } from './workloads/deployments/controller.ts';
import { replicaSetController, replicationController } from './workloads/replica-sets.ts';
import { statefulSetController } from './workloads/stateful-sets/controller.ts';

/** All controllers, in the order in which they start. */
export const allControllers: readonly Controller[] = [
  serviceAccountController,
  clusterRoleAggregationController,
  deploymentController,
  replicaSetController,
  replicationController,
  statefulSetController,
  daemonSetController,
];
