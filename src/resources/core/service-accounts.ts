import { age, name } from '../cells.ts';
import { type ObjectOf, resource } from '../define.ts';
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
  strategy: {
    returnsDeleted: true,
    prepareCreate: keepNames,
    prepareUpdate: keepNames,
  },
});

/** Of its secrets an account tells the names alone. */
function keepNames(account: ObjectOf<typeof ServiceAccount>): void {
  if (account.secrets === undefined) return;
  account.secrets = account.secrets.map(({ name = '' }) => (name === '' ? {} : { name }));
}
