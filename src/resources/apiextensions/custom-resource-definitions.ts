import { resource } from '../define.ts';
import { CustomResourceDefinition } from '../types/apiextensions-v1.ts';

export const customResourceDefinitions = resource({
  group: 'apiextensions.{domain}',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  schema: CustomResourceDefinition,
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  status: true,
  strategy: { generation: true, unconditionalUpdate: false },
});
