import {
  type ApiObject,
  at,
  fieldError,
  isJsonObject,
  type JsonObject,
  jsonCopy,
  selectorFromObject,
  validateObjectMeta,
} from '../../meta/index.ts';
import type { Column, ProjectionSubresource } from '../../registry/index.ts';
import { scaleKind, scaleObject } from '../../rules/index.ts';
import { age, name } from './columns.ts';

const replicas = ['spec', 'replicas'] as const;

const labelSelectorOf = (object: ApiObject): string => {
  const selector = at(object, 'spec', 'selector');
  return isJsonObject(selector) ? selectorFromObject(selector).text : '';
};

const columns: readonly Column[] = [
  // In this table the format of the name column is empty.
  { ...name, format: '' },
  { name: 'Desired', type: 'integer', cell: (scale) => at(scale, 'spec', 'replicas') ?? 0 },
  { name: 'Available', type: 'integer', cell: (scale) => at(scale, 'status', 'replicas') ?? 0 },
  age,
];

/** The `scale` subresource: `spec.replicas`, `status.replicas` and the label selector. */
export function scale(
  selectorOf: (object: ApiObject) => string = labelSelectorOf,
): Omit<ProjectionSubresource, 'name' | 'verbs'> {
  return {
    ...scaleKind,
    type: 'projection',
    projection: {
      replicas,
      read: (object) =>
        scaleObject(object, {
          replicas: at(object, ...replicas) ?? 0,
          current: at(object, 'status', 'replicas') ?? 0,
          selector: selectorOf(object),
        }),
      columns,
      write: (object, view) => {
        const spec: JsonObject = isJsonObject(object['spec']) ? object['spec'] : {};
        object['spec'] = { ...spec, replicas: jsonCopy(at(view, ...replicas) ?? 0) };
      },
      validate: (view) => {
        const errors = validateObjectMeta(view.metadata, { namespaced: true, finalizerNames: [] });
        const desired = at(view, ...replicas) ?? 0;
        if (typeof desired !== 'number' || desired >= 0) return errors;
        return [...errors, fieldError.invalid('spec.replicas', desired, 'must be greater than or equal to 0')];
      },
    },
  };
}
