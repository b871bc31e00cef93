import { age, name, orNone } from '../cells.ts';
import { resource } from '../define.ts';
import { IngressClass } from '../types/networking-v1.ts';

export const ingressClasses = resource({
  group: 'networking.{domain}',
  plural: 'ingressclasses',
  kind: 'IngressClass',
  schema: IngressClass,
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
  strategy: { generation: true },
});
