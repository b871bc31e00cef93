import {
  type FieldError,
  fieldError,
  type JsonObject,
  quote,
  statusError,
  validateObjectMeta,
} from '../../meta/index.ts';
import type { Column, ProjectionSubresource } from '../../registry/index.ts';
import { scaleKind, scaleObject } from '../../rules/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { CustomResourceSubresourceScale } from '../../types/apiextensions-v1.ts';
import { ageColumn, columnsOf } from './columns.ts';
import { fieldNames, type Nested, nestedInteger, nestedText, setNested } from './nested.ts';

type ScalePaths = Infer<typeof CustomResourceSubresourceScale>;

const MAX_REPLICAS = 2 ** 31 - 1;
/** The replicas in the Scale of an object without them, which no object has: a write must replace it. */
const NO_REPLICAS = -(2 ** 31);

const columns: readonly Column[] = columnsOf([
  { name: 'Desired', type: 'integer', description: 'Number of desired replicas', jsonPath: '.spec.replicas' },
  { name: 'Available', type: 'integer', description: 'Number of actual replicas', jsonPath: '.status.replicas' },
  ageColumn,
]);

/** The `scale` subresource of a custom resource. */
export function scaleOf(paths: ScalePaths): Omit<ProjectionSubresource, 'verbs'> {
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = paths;
  const replicas = fieldNames(specReplicasPath);
  const current = fieldNames(statusReplicasPath);
  const selectorPath = labelSelectorPath === '' ? undefined : fieldNames(labelSelectorPath);
  return {
    ...scaleKind,
    name: 'scale',
    type: 'projection',
    projection: {
      replicas,
      columns,
      read: (object) =>
        scaleObject(object, {
          replicas: readable(nestedInteger(object, replicas)) ?? NO_REPLICAS,
          current: readable(nestedInteger(object, current)) ?? 0,
          selector: selectorPath === undefined ? '' : (readable(nestedText(object, selectorPath)) ?? ''),
        }),
      checkRead: (object) => {
        if (readable(nestedInteger(object, replicas)) !== undefined) return;
        throw statusError.internal(`the spec replicas field ${quote(specReplicasPath)} does not exist`);
      },
      write: (object, scale) => {
        const { value = 0 } = nestedInteger(scale, ['spec', 'replicas']) as { readonly value?: number };
        if (value === NO_REPLICAS) {
          throw statusError.badRequest(`the spec replicas field ${quote(specReplicasPath)} cannot be empty`);
        }
        setNested(object, replicas, value);
      },
      validate: ({ metadata }) => validateObjectMeta(metadata, { namespaced: true, finalizerNames: [] }),
    },
  };
}

/** @throws StatusError 500 for a value of the wrong type */
function readable<T>(field: Nested<T>): T | undefined {
  if (field.problem !== undefined) throw statusError.internal(field.problem);
  return field.value;
}

/** The errors of the spec fields that the `scale` subresource exposes. */
export function validateScaleSpec(object: JsonObject, { specReplicasPath = '' }: ScalePaths): FieldError[] {
  return validateReplicas(object, specReplicasPath);
}

export function validateScaleStatus(object: JsonObject, paths: ScalePaths): FieldError[] {
  const { statusReplicasPath = '', labelSelectorPath } = paths;
  const errors = validateReplicas(object, statusReplicasPath);
  if (labelSelectorPath === undefined) return errors;
  const { problem } = nestedText(object, fieldNames(labelSelectorPath));
  return problem === undefined ? errors : [...errors, fieldError.invalid(labelSelectorPath, '', problem)];
}

function validateReplicas(object: JsonObject, path: string): FieldError[] {
  const field = nestedInteger(object, fieldNames(path));
  if (field.problem !== undefined) return [fieldError.invalid(path, 0, field.problem)];
  const { value = 0 } = field;
  if (value < 0) return [fieldError.invalid(path, value, 'should be a non-negative integer')];
  if (value <= MAX_REPLICAS) return [];
  return [fieldError.invalid(path, value, `should be less than or equal to ${MAX_REPLICAS}`)];
}
