import { keyIn, keyOf, splitKey } from '../../client/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import type { Secret, ServiceAccount } from '../../types/core-v1.ts';
import { ignoreGone } from '../shared/errors.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller } from '../types.ts';
import { onNewCertificates } from './root-certificates.ts';

/**
 * Fills secrets of the type for service account tokens with the token, the certificates that verify the server, and the
 * namespace. Deletes them with their service account, and removes them from its list of secrets when they are deleted.
 */
export const secretTokenController: Controller = {
  name: 'serviceaccount-token-controller',
  needs: [kinds.secrets, kinds.serviceAccounts],
  start(context) {
    const { client, informers, names, settings, queue } = context;
    const { signSecretToken, rootCertificates } = settings;
    if (signSecretToken === undefined) return;
    const nameKey = `${names.labels}/service-account.name`;
    const uidKey = `${names.labels}/service-account.uid`;
    const accountNameOf = ({ metadata: { annotations = {} } }: ObjectOf<typeof Secret>) => annotations[nameKey] ?? '';
    const uidOf = ({ metadata: { annotations = {} } }: ObjectOf<typeof Secret>) => annotations[uidKey] ?? '';
    const isOf = (secret: ObjectOf<typeof Secret>, account: ObjectOf<typeof ServiceAccount> | undefined) =>
      account !== undefined && ['', account.metadata.uid].includes(uidOf(secret));

    const accounts = informers.of(kinds.serviceAccounts);
    const secrets = informers.of(kinds.secrets, { fieldSelector: `type=${names.labels}/service-account-token` });
    const byAccount = secrets.indexBy('service account', (secret) => [
      keyIn(secret.metadata.namespace ?? '', accountNameOf(secret)),
    ]);

    const work = queue('serviceaccount_tokens_service', async (key) => {
      const secret = secrets.getByKey(key);
      if (secret === undefined) return;
      const { namespace = '', name: secretName = '', annotations } = secret.metadata;
      const name = accountNameOf(secret);
      const cached = accounts.get(namespace, name);
      const account = isOf(secret, cached)
        ? cached
        : await client.kind(kinds.serviceAccounts).find({ namespace, name });
      if (account === undefined || !isOf(secret, account)) {
        await client.kind(kinds.secrets).delete(secret.metadata).catch(ignoreGone);
        return;
      }
      const { uid = '' } = account.metadata;
      const { data = {} } = secret;
      const missing: { [key: string]: string } = {};
      const certificates = encode(rootCertificates() ?? '');
      if (certificates !== '' && data['ca.crt'] !== certificates) missing['ca.crt'] = certificates;
      if ((data['namespace'] ?? '') === '') missing['namespace'] = encode(namespace);
      if ((data['token'] ?? '') === '') {
        missing['token'] = encode(await signSecretToken({ namespace, secret: secretName, name, uid }));
      }
      if (Object.keys(missing).length === 0) return;
      const metadata = { ...secret.metadata, annotations: { ...annotations, [nameKey]: name, [uidKey]: uid } };
      await client
        .kind(kinds.secrets)
        .update({ ...secret, metadata, data: { ...data, ...missing } })
        .catch(ignoreGone);
    });

    /** Keys: the namespace, the account and the secret that it must not list any more. */
    const references = queue('serviceaccount_tokens_reference', async (key) => {
      const { namespace, name: rest } = splitKey(key);
      const { namespace: name, name: secret } = splitKey(rest);
      const account = await client.kind(kinds.serviceAccounts).find({ namespace, name });
      const remaining = account?.secrets?.filter((listed) => listed.name !== secret) ?? [];
      if (account === undefined || remaining.length === (account.secrets?.length ?? 0)) return;
      await client.kind(kinds.serviceAccounts).update({ ...account, secrets: remaining });
    });

    const changed = (secret: ObjectOf<typeof Secret>) => {
      if (isName(accountNameOf(secret))) work.add(keyOf(secret));
    };
    secrets.onChange((secret, old) => {
      if (secret !== undefined) changed(secret);
      if (secret !== undefined || old === undefined) return;
      const { namespace = '', name = '' } = old.metadata;
      const account = accounts.get(namespace, accountNameOf(old));
      if (account !== undefined && isOf(old, account)) references.add(`${keyOf(account)}/${name}`);
    });
    accounts.onChange((account, old) => {
      if (account !== undefined || old === undefined) return;
      for (const secret of byAccount.get(keyOf(old))) work.add(keyOf(secret));
    });
    onNewCertificates(context, () => {
      for (const secret of secrets.list()) changed(secret);
    });
  },
};

/** Whether an object can have the name. */
const isName = (text: string): boolean => !/^\.{0,2}$|[/%]/.test(text);

const encode = (text: string): string => Buffer.from(text).toString('base64');
