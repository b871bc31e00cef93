import { isStatus } from '../../meta/index.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller } from '../types.ts';

/** The service accounts that every namespace has. */
const managed = ['default'];

/** Creates the service account `default` in every namespace that is not being deleted, also when it has been deleted. */
export const serviceAccountController: Controller = {
  name: 'serviceaccount-controller',
  needs: [kinds.namespaces, kinds.serviceAccounts],
  account: 'service-account-controller',
  start({ client, informers, queue }) {
    const namespaces = informers.of(kinds.namespaces);
    const accounts = informers.of(kinds.serviceAccounts);
    const work = queue('service_account', async (namespace) => {
      if (namespaces.get('', namespace)?.metadata.deletionTimestamp !== undefined) return;
      for (const name of managed) {
        if (!namespaces.get('', namespace) || accounts.get(namespace, name)) continue;
        try {
          await client.kind(kinds.serviceAccounts).create({ metadata: { namespace, name } });
        } catch (error) {
          // It exists, or the namespace is gone by now.
          if (!isStatus(error, 409) && !isStatus(error, 404) && !isStatus(error, 403)) throw error;
        }
      }
    });
    namespaces.onChange((namespace) => {
      if (namespace !== undefined) work.add(namespace.metadata.name ?? '');
    });
    accounts.onChange((account, old) => {
      if (account === undefined) work.add(old?.metadata.namespace ?? '');
    });
  },
};
