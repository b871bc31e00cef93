import { keyOf } from '../../client/index.ts';
import * as kinds from '../shared/kinds.ts';
import { byNode } from '../shared/pods.ts';
import type { Controller } from '../types.ts';
import { Evictor } from './evictor.ts';
import { NodeMonitor } from './monitor.ts';
import { nodeCondition } from './node.ts';
import { markNotReady } from './pod-readiness.ts';
import { reconcileLabels, reconcileTaints } from './reconcile-node.ts';

/** How often the health of all nodes is looked at (ms). */
const periodMs = 5_000;

/** Looks after nodes: their health, the taints that follow from it, and the readiness of their pods. */
export const nodeLifecycleController: Controller = {
  name: 'node-lifecycle-controller',
  needs: [kinds.nodes, kinds.pods, kinds.leases],
  account: 'node-controller',
  start({ client, clock, events, every, informers, log, names, queue }) {
    const nodes = informers.of(kinds.nodes);
    const leases = informers.of(kinds.leases);
    const pods = informers.of(kinds.pods);
    const evictor = new Evictor({ client, clock, names, nodes });
    const monitor = new NodeMonitor({
      client,
      clock,
      events,
      log,
      names,
      nodes,
      leases,
      evictor,
      podsOf: byNode(pods),
    });
    const nodeWork = queue('node_lifecycle_controller', async (key) => {
      const node = nodes.getByKey(key);
      if (node === undefined) return;
      const tainted = await reconcileTaints({ client, now: clock.now() }, names, node);
      await reconcileLabels({ client, names }, tainted);
    });
    const podWork = queue('node_lifecycle_controller_pods', async (key) => {
      const pod = pods.getByKey(key);
      const node = pod && nodes.get('', pod.spec?.nodeName ?? '');
      const ready = node && nodeCondition(node, 'Ready');
      if (pod === undefined || ready === undefined || ready.status === 'True') return;
      await markNotReady({ client, clock, events }, [pod]);
    });
    const zoneWork = queue('node_lifecycle_controller_zones', (key) => evictor.taint(key));
    every(periodMs, async () => {
      await monitor.run();
      for (const zone of evictor.zones) zoneWork.add(zone);
    });
    nodes.onChange((node, old) => {
      if (node !== undefined) nodeWork.add(keyOf(node));
      else monitor.forget(old?.metadata.name ?? '');
    });
    pods.onChange((pod, old) => {
      const { nodeName = '' } = pod?.spec ?? {};
      if (pod !== undefined && nodeName !== '' && nodeName !== old?.spec?.nodeName) podWork.add(keyOf(pod));
    });
  },
};
