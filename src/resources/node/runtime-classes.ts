import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { RuntimeClass } from '../types/node-v1.ts';

export const runtimeClasses = resource({
  group: 'node.{domain}',
  plural: 'runtimeclasses',
  kind: 'RuntimeClass',
  schema: RuntimeClass,
  namespaced: false,
  columns: [name, ['Handler', ({ handler = '' }) => handler], age],
  strategy: { unconditionalUpdate: false },
});
