import { beginCleanUp } from '../../extensions/index.ts';
import { type FieldError, fieldErrorsInSteps, type Names, type Steps } from '../../meta/index.ts';
import type { StrategyContext, ValidationSoFar } from '../../registry/index.ts';
import { CustomResourceDefinition } from '../../types/apiextensions-v1.ts';
import { type ObjectOf, resource } from '../shared/define.ts';
import { defaultDefinition, recordStoredVersion } from './custom-resource-definitions.defaults.ts';
import { validateChange, validateDefinition, validateNew } from './custom-resource-definitions.validation.ts';
import { validateSchemaRules } from './schema-rules.validation.ts';

type Definition = ObjectOf<typeof CustomResourceDefinition>;

/** The whole definition, then the rules of its schemas. */
function* validateInSteps(
  definition: Definition,
  old: Definition | undefined,
  { names }: StrategyContext,
  { found: before }: ValidationSoFar,
): Steps<readonly FieldError[]> {
  const own = yield* fieldErrorsInSteps(validateWhole(definition, old, names));
  return [...own, ...(yield* validateSchemaRules(definition, old, [...before, ...own], names))];
}

function* validateWhole(definition: Definition, old: Definition | undefined, names: Names): Steps<FieldError[]> {
  return [
    ...(yield* validateDefinition(definition, names)),
    ...(old === undefined ? validateNew(definition, names) : validateChange(definition, old, names)),
  ];
}

export const customResourceDefinitions = resource({
  group: 'apiextensions.{domain}',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  schema: CustomResourceDefinition,
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  followed: true,
  status: { resetFields: [['metadata'], ['spec']] },
  strategy: {
    metadataChecks: [0, 1],
    bareFinalizers: true,
    generation: true,
    unconditionalUpdate: false,
    returnsDeleted: true,
    // Its objects are deleted before the finalizer is removed.
    termination: { begin: beginCleanUp, pending: () => false },
    defaults: ({ spec }) => defaultDefinition(spec ?? {}),
    prepareCreate: recordStoredVersion,
    prepareUpdate: recordStoredVersion,
    validateInSteps,
  },
});
