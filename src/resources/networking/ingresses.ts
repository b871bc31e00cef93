import { type FieldError, fieldError, type Names } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { Ingress } from '../../types/networking-v1.ts';
import { validateIngressPoint } from '../core/services.validation.ts';
import { ingressPointWarnings } from '../core/services.warnings.ts';
import { age, formatSome, name, orNone } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { eachOf, isNew } from '../shared/field-rules.ts';
import { validateIngress } from './ingresses.validation.ts';

export const ingresses = resource({
  group: 'networking.{domain}',
  plural: 'ingresses',
  kind: 'Ingress',
  schema: Ingress,
  lifecycle: { introduced: '1.19' },
  shortNames: ['ing'],
  status: true,
  columns: [
    name,
    ['Class', ({ spec }) => orNone(spec?.ingressClassName)],
    [
      'Hosts',
      ({ spec }) => {
        const hosts = (spec?.rules ?? []).map(({ host }) => host || '*').filter((host) => host !== '*');
        return hosts.length === 0 ? '*' : formatSome(hosts, 3);
      },
    ],
    [
      'Address',
      ({ status }) => {
        const points = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '');
        return [...new Set(points.filter((point) => point !== ''))].sort().join(',');
      },
    ],
    ['Ports', ({ spec }) => (spec?.tls === undefined ? '80' : '80, 443')],
    age,
  ],
  strategy: {
    generation: true,
    validate: (ingress, { names }) => [
      ...validateIngress(ingress.spec ?? {}),
      ...(isNew(ingress) ? validateClass(ingress, names) : []),
      ...eachOf(
        ingress.status?.loadBalancer?.ingress,
        'status.loadBalancer.ingress',
        ({ ip = '', hostname = '' }, path) => validateIngressPoint(ip, hostname, path),
      ),
    ],
    warnings: ({ metadata }, old, { names }) => {
      const key = classKey(names);
      if (old !== undefined || metadata.annotations?.[key] === undefined) return [];
      return [`annotation "${key}" is deprecated, please use 'spec.ingressClassName' instead`];
    },
    statusWarnings: ({ status }, { names }) => ingressPointWarnings(status?.loadBalancer?.ingress, names),
  },
});

/** The deprecated annotation with the ingress class. */
const classKey = ({ labels }: Names): string => `${labels}/ingress.class`;

function validateClass({ metadata, spec }: ObjectOf<typeof Ingress>, names: Names): FieldError[] {
  const key = classKey(names);
  const value = metadata.annotations?.[key];
  const name = spec?.ingressClassName;
  if (value === undefined || name === undefined || value === name) return [];
  return [fieldError.invalid(`annotations.${key}`, value, 'must match `ingressClassName` when both are specified')];
}
