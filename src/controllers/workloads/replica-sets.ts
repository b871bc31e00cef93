import * as kinds from '../shared/kinds.ts';
import { selectorIn, selectorOfLabels } from '../shared/selection.ts';
import type { Controller } from '../types.ts';
import { keepReplicas } from './replicas.ts';

export const replicaSetController: Controller = {
  name: 'replicaset-controller',
  needs: [kinds.replicaSets, kinds.pods],
  account: 'replicaset-controller',
  start: (context) =>
    keepReplicas(context, {
      kind: kinds.replicaSets,
      queue: 'replicaset',
      selectorOf: ({ spec }) => selectorIn(spec?.selector),
      countsTerminating: true,
    }),
};

export const replicationController: Controller = {
  name: 'replicationcontroller-controller',
  needs: [kinds.replicationControllers, kinds.pods],
  account: 'replication-controller',
  start: (context) =>
    keepReplicas(context, {
      kind: kinds.replicationControllers,
      queue: 'replicationmanager',
      selectorOf: ({ spec }) => selectorOfLabels(spec?.selector),
      countsTerminating: false,
    }),
};
