import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { PodDisruptionBudget } from '../types/policy-v1.ts';

export const podDisruptionBudgets = resource({
  group: 'policy',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  schema: PodDisruptionBudget,
  shortNames: ['pdb'],
  status: true,
  columns: [
    name,
    ['Min Available', ({ spec }) => String(spec?.minAvailable ?? 'N/A')],
    ['Max Unavailable', ({ spec }) => String(spec?.maxUnavailable ?? 'N/A')],
    ['Allowed Disruptions', ({ status }) => status?.disruptionsAllowed ?? 0, 'integer'],
    age,
  ],
  strategy: { generation: true, unconditionalUpdate: false },
});
