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
import { Scale } from '../../types/autoscaling-v1.ts';
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
    type: 'projection',
    kind: 'Scale',
    group: 'autoscaling',
    version: 'v1',
    schema: Scale,
    projection: {
      replicas,
      read: (object) => {
        const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
        const wanted = at(object, ...replicas) ?? 0;
        const selector = selectorOf(object);
        return {
          kind: 'Scale',
          apiVersion: 'autoscaling/v1',
          metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as ApiObject['metadata'],
          spec: wanted === 0 ? {} : { replicas: wanted },
          status: { replicas: at(object, 'status', 'replicas') ?? 0, ...(selector === '' ? {} : { selector }) },
        };
      },
      columns,
      write: (object, view) => {
        const spec: JsonObject = isJsonObject(object['spec']) ? object['spec'] : {};
        object['spec'] = { ...spec, replicas: jsonCopy(at(view, ...replicas) ?? 0) };
      },
      validate: (view) => {
        const found = validateObjectMeta(view.metadata, { namespaced: true, finalizerNames: [] });
        const wanted = at(view, ...replicas) ?? 0;
        if (typeof wanted !== 'number' || wanted >= 0) return found;
        return [...found, fieldError.invalid('spec.replicas', wanted, 'must be greater than or equal to 0')];
      },
    },
  };
}
