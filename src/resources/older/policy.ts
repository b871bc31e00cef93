/** The beta version of pod disruption budgets. */
import { type Json, jsonEqual, type Names } from '../../meta/index.ts';
import { field } from '../../schema/index.ts';
import { LabelSelector } from '../../types/meta-v1.ts';
import * as v1 from '../../types/policy-v1.ts';
import type { OlderKind } from './declare.ts';
import { typesIn } from './types.ts';

const v1beta1 = typesIn('policy/v1beta1', {
  PodDisruptionBudgetSpec: {
    ...v1.PodDisruptionBudgetSpec.fields,
    selector: field(2, LabelSelector, { nullable: true }),
  },
});

// `{}` selects no pods in v1beta1 and all pods in v1: what it means in one version is a label that no pod has in the other.
const label = ({ labels }: Names) => `pdb.${labels}/deprecated-v1beta1-empty-selector-match`;
const selectsNone = (names: Names): Json => ({ matchExpressions: [{ key: label(names), operator: 'Exists' }] });
const selectsAll = (names: Names): Json => ({ matchExpressions: [{ key: label(names), operator: 'DoesNotExist' }] });

function translate(selector: Json, empty: Json, other: Json): Json {
  if (jsonEqual(selector, {})) return empty;
  return jsonEqual(selector, other) ? {} : selector;
}

export const policy: readonly OlderKind[] = [
  {
    group: 'policy',
    plural: 'poddisruptionbudgets',
    versions: [
      {
        version: 'v1beta1',
        schema: v1beta1(v1.PodDisruptionBudget),
        lifecycle: { introduced: '1.5', deprecated: '1.21', removed: '1.25' },
        changes: [
          {
            older: 'spec.selector',
            toStored: (selector, names) => translate(selector, selectsNone(names), selectsAll(names)),
            toOlder: (selector, names) => translate(selector, selectsAll(names), selectsNone(names)),
          },
        ],
      },
    ],
  },
];
