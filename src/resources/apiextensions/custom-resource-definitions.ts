import { beginCleanUp } from '../../extensions/index.ts';
import { CustomResourceDefinition } from '../../types/apiextensions-v1.ts';
import { resource } from '../shared/define.ts';
import { isNew } from '../shared/field-rules.ts';
import { defaultDefinition, recordStoredVersion } from './custom-resource-definitions.defaults.ts';
import { validateChange, validateDefinition, validateNew } from './custom-resource-definitions.validation.ts';
import { validateSchemaRules } from './schema-rules.validation.ts';

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
    validate: (definition, { names }) => [
      ...validateDefinition(definition, names),
      ...(isNew(definition) ? validateNew(definition, names) : []),
    ],
    validateUpdate: (definition, old, { names }) => validateChange(definition, old, names),
    validateInSteps: (definition, old, { names }, found) => validateSchemaRules(definition, old, found, names),
  },
});
