import { type FieldError, fieldError, pathSegmentName } from '../../meta/index.ts';
import { PodDisruptionBudget, type PodDisruptionBudgetSpec } from '../../types/policy-v1.ts';
import { age, name } from '../shared/columns.ts';
import { validateConditions } from '../shared/conditions.ts';
import { resource } from '../shared/define.ts';
import { nonNegativeOrPercent, selector } from '../shared/field-rules.ts';

export const podDisruptionBudgets = resource({
  group: 'policy',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  schema: PodDisruptionBudget,
  lifecycle: { introduced: '1.21' },
  shortNames: ['pdb'],
  status: { metadataChecks: [0, 0] },
  columns: [
    name,
    ['Min Available', ({ spec }) => String(spec?.minAvailable ?? 'N/A')],
    ['Max Unavailable', ({ spec }) => String(spec?.maxUnavailable ?? 'N/A')],
    ['Allowed Disruptions', ({ status }) => status?.disruptionsAllowed ?? 0, 'integer'],
    age,
  ],
  strategy: {
    metadataChecks: [0, 0],
    bareFinalizers: true,
    generation: true,
    // The name does not become part of pod names.
    nameRule: pathSegmentName,
    unconditionalUpdate: false,
    validate: ({ spec = {}, status }) => [
      ...validateSpec(spec),
      ...validateConditions(status?.conditions, 'status.conditions'),
    ],
  },
});

function validateSpec(spec: PodDisruptionBudgetSpec): FieldError[] {
  const { minAvailable, maxUnavailable, selector: pods } = spec;
  const errors: FieldError[] = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const printedValue = {
      MinAvailable: minAvailable,
      Selector: pods ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
    };
    errors.push(fieldError.invalid('spec', printedValue, 'minAvailable and maxUnavailable cannot be both set'));
  }
  if (minAvailable !== undefined) errors.push(...nonNegativeOrPercent('spec.minAvailable', minAvailable));
  if (maxUnavailable !== undefined) errors.push(...nonNegativeOrPercent('spec.maxUnavailable', maxUnavailable));
  return [...errors, ...selector(pods, 'spec.selector')];
}
