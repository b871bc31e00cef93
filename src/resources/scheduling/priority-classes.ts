import { type FieldError, fieldError, immutable } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { PriorityClass } from '../../types/scheduling-v1.ts';
import { validatePreemption } from '../pod-template/scheduling.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { isNew } from '../shared/field-rules.ts';

export const priorityClasses = resource({
  group: 'scheduling.{domain}',
  plural: 'priorityclasses',
  kind: 'PriorityClass',
  schema: PriorityClass,
  lifecycle: { introduced: '1.14' },
  shortNames: ['pc'],
  namespaced: false,
  followed: true,
  columns: [
    name,
    ['Value', ({ value = 0 }) => value, 'integer'],
    ['Global-Default', ({ globalDefault = false }) => globalDefault, 'boolean'],
    age,
    ['PreemptionPolicy', ({ preemptionPolicy = '' }) => preemptionPolicy],
  ],
  strategy: {
    metadataChecks: [0, 1],
    defaults: (priority) => {
      priority.preemptionPolicy ??= 'PreemptLowerPriority';
    },
    // All relevant fields are immutable, so the generation is always 1.
    prepareCreate: ({ metadata }) => {
      metadata.generation = 1;
    },
    // Stored classes are not validated again.
    validate: (priority) => (isNew(priority) ? validatePriority(priority) : []),
    validateUpdate: (priority, old) => [
      ...((priority.value ?? 0) === (old.value ?? 0)
        ? []
        : [fieldError.forbidden('value', 'may not be changed in an update.')]),
      ...(priority.preemptionPolicy === old.preemptionPolicy
        ? []
        : [immutable('preemptionPolicy', priority.preemptionPolicy)]),
    ],
  },
});

const SYSTEM = 'system-';
const HIGHEST_OF_USERS = 1_000_000_000;
const systemClasses: { readonly [name: string]: number } = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};

function validatePriority(priority: ObjectOf<typeof PriorityClass>): FieldError[] {
  return [...validateValue(priority), ...validatePreemption(priority.preemptionPolicy, 'preemptionPolicy')];
}

function validateValue({ metadata, value = 0, globalDefault }: ObjectOf<typeof PriorityClass>): FieldError[] {
  const { name = '' } = metadata;
  if (!name.startsWith(SYSTEM)) {
    if (value <= HIGHEST_OF_USERS) return [];
    const why = `maximum allowed value of a user defined priority is ${HIGHEST_OF_USERS}`;
    return [fieldError.forbidden('value', why)];
  }
  const own = Object.hasOwn(systemClasses, name) ? systemClasses[name] : undefined;
  const problem =
    own === undefined
      ? `${name} is not a known system priority class`
      : value !== own
        ? `value of ${name} PriorityClass must be ${own}`
        : globalDefault === true
          ? `globalDefault of ${name} PriorityClass must be false`
          : undefined;
  if (problem === undefined) return [];
  const why = `priority class names with '${SYSTEM}' prefix are reserved for system use only. error: ${problem}`;
  return [fieldError.forbidden('metadata.name', why)];
}
