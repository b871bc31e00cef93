import { addQuantities, formatQuantity, parseQuantity } from '../../meta/index.ts';
import { NodeMetrics, PodMetrics } from '../../types/metrics-v1beta1.ts';
import { name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';

const shared = {
  group: 'metrics.{domain}',
  version: 'v1beta1',
  lifecycle: { introduced: '1.8' },
  virtual: true,
  verbs: ['get', 'list'],
} as const;

export const nodeMetrics = resource({
  ...shared,
  plural: 'nodes',
  kind: 'NodeMetrics',
  schema: NodeMetrics,
  namespaced: false,
  columns: [
    name,
    ['cpu', ({ usage }) => usage?.['cpu'] ?? ''],
    ['memory', ({ usage }) => usage?.['memory'] ?? ''],
    ['Window', ({ window }) => window ?? ''],
  ],
});

/** The sum over containers. */
const sumOf = (used: readonly { readonly usage?: { readonly [resource: string]: string } }[], resourceName: string) =>
  formatQuantity(
    used.reduce(
      (sum, { usage }) => addQuantities(sum, parseQuantity(usage?.[resourceName] ?? '0')),
      parseQuantity('0'),
    ),
  );

export const podMetrics = resource({
  ...shared,
  plural: 'pods',
  kind: 'PodMetrics',
  schema: PodMetrics,
  columns: [
    name,
    ['cpu', ({ containers = [] }) => sumOf(containers, 'cpu')],
    ['memory', ({ containers = [] }) => sumOf(containers, 'memory')],
    ['Window', ({ window }) => window ?? ''],
  ],
});
