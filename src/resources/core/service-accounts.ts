import { getKey } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { TokenRequest } from '../../types/authentication-v1.ts';
import { ServiceAccount } from '../../types/core-v1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';

export const serviceAccounts = resource({
  group: '',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  schema: ServiceAccount,
  lifecycle: { introduced: '1.0' },
  shortNames: ['sa'],
  subresources: [
    {
      name: 'token',
      type: 'create',
      verbs: ['create'],
      kind: 'TokenRequest',
      group: 'authentication.{domain}',
      version: 'v1',
      schema: TokenRequest,
    },
  ],
  columns: [name, age],
  strategy: {
    returnsDeleted: true,
    prepareCreate: keepNames,
    prepareUpdate: keepNames,
    warnings: ({ metadata }, old, { names }) => {
      const key = `${names.labels}/enforce-mountable-secrets`;
      const [now, before] = [metadata, old?.metadata].map((one) => getKey(one?.annotations ?? {}, key));
      return now === undefined || before !== undefined
        ? []
        : [
            `metadata.annotations[${key}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
          ];
    },
  },
});

/** Of the references in `secrets` only the names are kept. */
function keepNames(account: ObjectOf<typeof ServiceAccount>): void {
  if (account.secrets === undefined) return;
  account.secrets = account.secrets.map(({ name = '' }) => (name === '' ? {} : { name }));
}
