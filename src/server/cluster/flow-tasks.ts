import type { FlowControl } from '../../fairness/index.ts';
import type { Registry } from '../../registry/index.ts';
import { followFlowObjects } from './flow-control.ts';
import { createFlowReconciler, type FlowObjectOptions } from './flow-objects.ts';

interface FlowTaskOptions extends Omit<FlowObjectOptions, 'hasStatus' | 'closing'> {
  readonly registry: Registry;
  /** Undefined: requests have no seats. */
  readonly flowControl: FlowControl | undefined;
}

/** The delay of a reconciliation after the last change (ms). */
const flowChangeMs = 2_000;

export interface FlowTasks {
  /** Resolves once the flow schemas and priority levels have their effect. */
  readonly load: () => Promise<void>;
  readonly reconcile: () => Promise<void>;
  readonly adjust: () => Promise<void>;
}

/** The tasks of flow control; those of a server without it look after its objects only. */
export function createFlowTasks(options: FlowTaskOptions, closing: () => boolean): FlowTasks {
  const { registry, names, flowControl, clock } = options;
  const reconcile = createFlowReconciler({ ...options, hasStatus: flowControl !== undefined, closing });
  let cancel = () => {};
  const changed = () => {
    cancel();
    cancel = clock.after(flowChangeMs, () => void reconcile());
  };
  return {
    reconcile,
    load: async () => {
      if (flowControl !== undefined) await followFlowObjects(registry, names, flowControl, changed);
    },
    adjust: async () => flowControl?.adjust(),
  };
}
