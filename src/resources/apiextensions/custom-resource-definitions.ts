import { beginCleanUp } from '../../extensions/index.ts';
import {
  type FieldError,
  fieldErrorsInSteps,
  type Json,
  jsonEqualInSteps,
  type Names,
  type Steps,
  settledErrors,
} from '../../meta/index.ts';
import type { StrategyContext, ValidationSoFar } from '../../registry/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { CustomResourceDefinition } from '../../types/apiextensions-v1.ts';
import { resource } from '../shared/define.ts';
import { defaultDefinition, recordStoredVersion } from './custom-resource-definitions.defaults.ts';
import {
  type Tolerance,
  toleranceOf,
  validateChange,
  validateDefinition,
  validateNew,
  validateStatus,
} from './custom-resource-definitions.validation.ts';
import { validateSchemaRules } from './schema-rules.validation.ts';

type Definition = ObjectOf<typeof CustomResourceDefinition>;

/** Whether an update leaves the spec of a definition as it is, which is marked as deleted. */
function* isEnding({ spec }: Definition, old: Definition | undefined): Steps<boolean> {
  if (old?.metadata.deletionTimestamp === undefined) return false;
  return yield* jsonEqualInSteps(spec as Json | undefined, old.spec as Json | undefined);
}

/**
 * The validation of definitions, which accepts `tolerance` and what an update leaves as it is: the whole definition, then
 * the rules of its schemas. Only the status where nothing else is written, and at the end of a definition, which loses its
 * finalizers also if it was stored with what is invalid now.
 */
export const definitionValidation = (tolerance: Tolerance) =>
  function* (
    definition: Definition,
    old: Definition | undefined,
    context: StrategyContext,
    { found: before, part }: ValidationSoFar,
  ): Steps<readonly FieldError[]> {
    const { names } = context;
    if (part === 'status' || (yield* isEnding(definition, old))) {
      return yield* settledErrors(validateStatus(definition));
    }
    const accepted = old === undefined ? tolerance : { ...(yield* toleranceOf(old, names)), ...tolerance };
    const own = yield* settledErrors(yield* fieldErrorsInSteps(validateWhole(definition, old, names, accepted)));
    return [...own, ...(yield* validateSchemaRules(definition, old, [...before, ...own], context))];
  };

function* validateWhole(
  definition: Definition,
  old: Definition | undefined,
  names: Names,
  tolerance: Tolerance,
): Steps<FieldError[]> {
  return [
    ...(yield* validateDefinition(definition, names, tolerance)),
    ...(old === undefined
      ? validateNew(definition, names, tolerance)
      : validateChange(definition, old, names, tolerance)),
  ];
}

export const customResourceDefinitions = resource({
  group: 'apiextensions.{domain}',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  schema: CustomResourceDefinition,
  lifecycle: { introduced: '1.16' },
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  followed: true,
  status: { resetFields: [['spec']] },
  strategy: {
    metadataChecks: [0, 1],
    bareFinalizers: true,
    generation: true,
    unconditionalUpdate: false,
    returnsDeleted: true,
    // Its objects are deleted before the finalizer is removed.
    termination: { begin: beginCleanUp, pending: () => false, propagates: false },
    defaults: defaultDefinition,
    prepareCreate: recordStoredVersion,
    prepareUpdate: recordStoredVersion,
    validateInSteps: definitionValidation({}),
  },
});
