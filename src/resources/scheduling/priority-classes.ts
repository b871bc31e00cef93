import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { PriorityClass } from '../types/scheduling-v1.ts';

export const priorityClasses = resource({
  group: 'scheduling.{domain}',
  plural: 'priorityclasses',
  kind: 'PriorityClass',
  schema: PriorityClass,
  shortNames: ['pc'],
  namespaced: false,
  columns: [
    name,
    ['Value', ({ value = 0 }) => value, 'integer'],
    ['Global-Default', ({ globalDefault = false }) => globalDefault, 'boolean'],
    age,
    ['PreemptionPolicy', ({ preemptionPolicy = '' }) => preemptionPolicy],
  ],
  strategy: { generation: true },
});
