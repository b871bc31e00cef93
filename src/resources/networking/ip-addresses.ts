import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { IPAddress } from '../types/networking-v1.ts';

export const ipAddresses = resource({
  group: 'networking.{domain}',
  plural: 'ipaddresses',
  kind: 'IPAddress',
  schema: IPAddress,
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
});
