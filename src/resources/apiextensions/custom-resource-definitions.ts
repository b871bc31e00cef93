import { resource } from '../define.ts';
import { CustomResourceDefinition } from '../types/apiextensions-v1.ts';
import { isNew } from '../validate/common.ts';
import { defaultDefinition, noteStored, validateChange, validateDefinition, validateNew } from './rules.ts';

export const customResourceDefinitions = resource({
  group: 'apiextensions.{domain}',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  schema: CustomResourceDefinition,
  notYet: 'this server does not serve custom resources yet',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  status: { resetFields: [['metadata'], ['spec']] },
  strategy: {
    metadataChecks: [0, 1],
    bareFinalizers: true,
    generation: true,
    unconditionalUpdate: false,
    defaults: ({ spec }) => defaultDefinition(spec ?? {}),
    prepareCreate: noteStored,
    prepareUpdate: noteStored,
    validate: (definition, { names }) => [
      ...validateDefinition(definition, names),
      ...(isNew(definition) ? validateNew(definition, names) : []),
    ],
    validateUpdate: (definition, old, { names }) => validateChange(definition, old, names),
  },
});
