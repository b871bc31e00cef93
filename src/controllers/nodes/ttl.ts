import { keyOf } from '../../client/index.ts';
import { annotationOf } from '../../meta/index.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller } from '../types.ts';

/** How long kubelets may hold secrets and config maps (s), by the number of nodes. The ranges overlap, so that it is steady. */
const steps = [
  { least: 0, most: 100, seconds: 0 },
  { least: 90, most: 500, seconds: 15 },
  { least: 450, most: 1000, seconds: 30 },
  { least: 900, most: 2000, seconds: 60 },
  { least: 1800, most: Number.POSITIVE_INFINITY, seconds: 300 },
];

/** The step for this number of nodes, beginning at the current one. */
export function stepFor(count: number, current: number): number {
  let step = current;
  while (count > (steps[step]?.most ?? count)) step++;
  while (count < (steps[step]?.least ?? 0)) step--;
  return step;
}

/** Tells kubelets by an annotation of their node how long they may hold secrets and config maps. */
export const ttlController: Controller = {
  name: 'ttl-controller',
  needs: [kinds.nodes],
  account: 'ttl-controller',
  start({ client, informers, names, queue }) {
    const annotation = `node.alpha.${names.labels}/ttl`;
    const nodes = informers.of(kinds.nodes);
    let step = 0;
    const work = queue('ttlcontroller', async (key) => {
      const node = nodes.getByKey(key);
      const seconds = String(steps[step]?.seconds ?? 0);
      if (node === undefined || annotationOf(node, annotation) === seconds) return;
      await client
        .kind(kinds.nodes)
        .patch(node.metadata, 'strategic', { metadata: { annotations: { [annotation]: seconds } } });
    });
    nodes.onChange((node) => {
      const before = step;
      step = stepFor(nodes.size, step);
      if (step !== before) for (const one of nodes.list()) work.add(keyOf(one));
      else if (node !== undefined) work.add(keyOf(node));
    });
  },
};
