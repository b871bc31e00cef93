import { dns1123Label, domainPath, type FieldError, fieldError } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import { IngressClass, type IngressClassParametersReference } from '../../types/networking-v1.ts';
import { age, name, orNone } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { byRule, oneOf, unchanged } from '../shared/field-rules.ts';
import { validateReference } from './ingresses.validation.ts';

export const ingressClasses = resource({
  group: 'networking.{domain}',
  plural: 'ingressclasses',
  kind: 'IngressClass',
  schema: IngressClass,
  lifecycle: { introduced: '1.19' },
  namespaced: false,
  columns: [
    name,
    ['Controller', ({ spec }) => spec?.controller ?? ''],
    [
      'Parameters',
      ({ spec }) => {
        const parameters = spec?.parameters;
        if (parameters === undefined) return orNone('');
        return `${parameters.kind}${parameters.apiGroup ? `.${parameters.apiGroup}` : ''}/${parameters.name}`;
      },
    ],
    age,
  ],
  strategy: {
    generation: true,
    defaults: ({ spec }) => {
      if (spec?.parameters !== undefined) spec.parameters.scope ??= 'Cluster';
    },
    validate: ({ spec: { controller = '', parameters } = {} }) => [
      ...(Buffer.byteLength(controller) > MAX_CONTROLLER
        ? [fieldError.tooLong('spec.controller', MAX_CONTROLLER)]
        : []),
      ...domainPath('spec.controller', controller),
      ...(parameters === undefined ? [] : validateParameters(parameters)),
    ],
    validateUpdate: ({ spec }, old) => unchanged('spec.controller', spec?.controller ?? '', old.spec?.controller ?? ''),
  },
});

const MAX_CONTROLLER = 250;

function validateParameters(parameters: Infer<typeof IngressClassParametersReference>): FieldError[] {
  const path = 'spec.parameters';
  const { scope = '', namespace } = parameters;
  const at = `${path}.namespace`;
  const errors = [...validateReference(parameters, path), ...oneOf(`${path}.scope`, scope, ['Cluster', 'Namespace'])];
  if (scope === 'Cluster' && namespace !== undefined) {
    errors.push(fieldError.forbidden(at, "`parameters.scope` is set to 'Cluster'"));
  }
  if (scope !== 'Namespace') return errors;
  if (namespace !== undefined) return [...errors, ...byRule(at, namespace, dns1123Label)];
  return [...errors, fieldError.required(at, "`parameters.scope` is set to 'Namespace'")];
}
