import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { ServiceAccount } from '../types/core-v1.ts';

export const serviceAccounts = resource({
  group: '',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  schema: ServiceAccount,
  shortNames: ['sa'],
  subresources: [
    { name: 'token', verbs: ['create'], kind: 'TokenRequest', group: 'authentication.{domain}', version: 'v1' },
  ],
  columns: [name, age],
});
