import type { ApiObject, FieldError } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { ResourceClaimTemplate as V1alpha3 } from '../../types/resource-v1alpha3.ts';
import { ResourceClaimTemplate } from '../../types/resource-v1beta1.ts';
import { ResourceClaimTemplate as V1beta2 } from '../../types/resource-v1beta2.ts';
import { validateClaimMeta } from '../pod-template/volume-claim-template.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { isNew, same, unchanged } from '../shared/field-rules.ts';
import { templateFromV1beta2, templateToV1beta2 } from './conversion.ts';
import { selectorsOfClaim, validateExpressions } from './device-selectors.validation.ts';
import { defaultRequests, validateClaimSpec } from './resource-claims.validation.ts';

type Template = ObjectOf<typeof ResourceClaimTemplate>;

export const resourceClaimTemplates = resource({
  group: 'resource.{domain}',
  plural: 'resourceclaimtemplates',
  kind: 'ResourceClaimTemplate',
  version: 'v1beta1',
  schema: ResourceClaimTemplate,
  lifecycle: { introduced: '1.32', deprecated: '1.35', removed: '1.38' },
  versions: [
    {
      version: 'v1beta2',
      schema: V1beta2,
      lifecycle: { introduced: '1.33', deprecated: '1.36', removed: '1.39' },
      toStorage: templateFromV1beta2,
      fromStorage: templateToV1beta2,
    },
    {
      version: 'v1alpha3',
      schema: V1alpha3,
      lifecycle: {
        introduced: '1.31',
        deprecated: '1.34',
        removed: '1.37',
        replacement: 'resource.{domain}/v1beta1 ResourceClaimTemplate',
      },
    },
  ],
  gate: 'DynamicResourceAllocation',
  columns: [name, age],
  strategy: {
    defaults: ({ spec }) => defaultRequests(spec?.spec ?? {}),
    validate: (template) => (isNew(template) ? validateTemplate(template, false) : []),
    validateInSteps: (template, old, { compatible }) =>
      old === undefined
        ? validateExpressions(selectorsOfClaim(specOf(template).spec ?? {}, 'spec.spec'), undefined, compatible)
        : undefined,
    validateUpdate: (template, old) => [
      ...unchanged('spec', template.spec, old.spec),
      ...(same(template.spec, old.spec) ? [] : validateTemplate(template, true)),
    ],
  },
});

/** The template of the spec in v1beta2 form. */
const specOf = (template: Template) =>
  (templateToV1beta2(template as ApiObject) as unknown as ObjectOf<typeof V1beta2>).spec ?? {};

function validateTemplate(template: Template, stored: boolean): FieldError[] {
  const { metadata = {}, spec = {} } = specOf(template);
  return [...validateClaimMeta(metadata, 'spec.metadata'), ...validateClaimSpec(spec, 'spec.spec', stored)];
}
