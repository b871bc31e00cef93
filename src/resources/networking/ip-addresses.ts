import { dns1123Subdomain, type FieldError, immutable, pathSegmentName } from '../../meta/index.ts';
import { IPAddress, type IPAddressSpec } from '../../types/networking-v1.ts';
import { IPAddress as V1beta1 } from '../../types/networking-v1beta1.ts';
import { canonicalAddress } from '../shared/addresses.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { byRule, same } from '../shared/field-rules.ts';

export const ipAddresses = resource({
  group: 'networking.{domain}',
  plural: 'ipaddresses',
  kind: 'IPAddress',
  schema: IPAddress,
  lifecycle: { introduced: '1.33' },
  versions: [
    { version: 'v1beta1', schema: V1beta1, lifecycle: { introduced: '1.31', deprecated: '1.34', removed: '1.37' } },
  ],
  shortNames: ['ip'],
  namespaced: false,
  columns: [
    name,
    [
      'ParentRef',
      ({ spec }) => {
        const { group, resource = '', namespace, name = '' } = spec?.parentRef ?? {};
        return [`${resource}${group ? `.${group}` : ''}`, ...(namespace ? [namespace] : []), name].join('/');
      },
    ],
    age,
  ],
  strategy: {
    nameRule: canonicalAddress,
    validate: ({ spec = {} }) => validateParent(spec),
    validateUpdate: ({ spec = {} }, { spec: old = {} }) =>
      same(spec.parentRef, old.parentRef) ? [] : [immutable('spec.parentRef', shownParent(spec))],
  },
});

function validateParent({
  parentRef: { group = '', resource = '', namespace = '', name = '' } = {},
}: IPAddressSpec): FieldError[] {
  const path = 'spec.parentRef';
  return [
    ...(group === '' ? [] : byRule(`${path}.group`, group, dns1123Subdomain)),
    ...byRule(`${path}.resource`, resource, pathSegmentName),
    ...byRule(`${path}.name`, name, pathSegmentName),
    ...byRule(`${path}.namespace`, namespace, pathSegmentName),
  ];
}

const shownParent = ({ parentRef: parent }: IPAddressSpec) =>
  parent === undefined
    ? null
    : {
        Group: parent.group ?? '',
        Resource: parent.resource ?? '',
        Namespace: parent.namespace ?? '',
        Name: parent.name ?? '',
      };
