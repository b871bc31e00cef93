import { serviceAccountController } from './service-accounts.ts';
import type { Controller } from './types.ts';
import { replicaSetController, replicationController } from './workloads/replica-sets.ts';

/** All controllers, in the order in which they start. */
export const allControllers: readonly Controller[] = [
  serviceAccountController,
  replicaSetController,
  replicationController,
];
