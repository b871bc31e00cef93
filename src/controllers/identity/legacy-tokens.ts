import type { Informer } from '../../client/index.ts';
import { isJsonObject, type Json, type Names } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import type { Pod, Secret } from '../../types/core-v1.ts';
import { ignoreGone } from '../shared/errors.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller } from '../types.ts';

type TokenSecret = ObjectOf<typeof Secret>;

const day = 86_400_000;
/** The config map in the system namespace that states since when the last use of tokens is recorded. */
export const trackingMap = 'kube-apiserver-legacy-service-account-token-tracking';

/**
 * Once a day marks secrets with generated tokens as invalid that were not used for a long time, and deletes those that
 * were invalid for as long. Secrets that pods use, and those that their service account does not list, are left alone.
 */
export const legacyTokenCleaner: Controller = {
  name: 'legacy-serviceaccount-token-cleaner-controller',
  needs: [kinds.secrets, kinds.serviceAccounts, kinds.pods],
  account: 'legacy-service-account-token-cleaner',
  start({ client, informers, names, settings, clock, every, log }) {
    const secrets = informers.of(kinds.secrets, { fieldSelector: `type=${names.labels}/service-account-token` });
    const accounts = informers.of(kinds.serviceAccounts);
    const pods = informers.of(kinds.pods);
    const invalidSince = `${names.labels}/legacy-token-invalid-since`;
    const isGenerated = (secret: TokenSecret): boolean => {
      const { namespace = '', name, annotations = {} } = secret.metadata;
      const account = accounts.get(namespace, annotations[`${names.labels}/service-account.name`] ?? '');
      const uid = annotations[`${names.labels}/service-account.uid`] ?? '';
      if (account === undefined || !['', account.metadata.uid].includes(uid)) return false;
      return account.secrets?.some((listed) => listed.name === name) === true;
    };
    const clean = async (secret: TokenSecret, now: number, lastKept: string) => {
      const { uid = '', resourceVersion = '', labels = {} } = secret.metadata;
      const since = labels[invalidSince] ?? '';
      if (timeOfDay(since) === undefined) {
        const patch = { metadata: { uid, labels: { [invalidSince]: dayOf(now) } } };
        await client.kind(kinds.secrets).patch(secret.metadata, 'merge', patch).catch(ignoreGone);
      } else if (since < lastKept) {
        await client
          .kind(kinds.secrets)
          .delete(secret.metadata, { preconditions: { resourceVersion } })
          .catch(ignoreGone);
      }
    };
    every(day, async () => {
      const map = await client.kind(kinds.configMaps).find({ namespace: names.systemNamespace, name: trackingMap });
      const since = timeOfDay(map?.data?.['since'] ?? '');
      const now = clock.now();
      if (since === undefined || now < since + day + settings.legacyTokenMs) return;
      const threshold = now - settings.legacyTokenMs;
      const used = usedSecrets(pods);
      for (const secret of secrets.list()) {
        if (!isUnused(secret, threshold, names) || !isGenerated(secret) || used(secret)) continue;
        await clean(secret, now, dayOf(threshold)).catch((error: unknown) => {
          const { namespace, name } = secret.metadata;
          log.error('the secret of an unused token cannot be marked or deleted', { namespace, name, error });
        });
      }
    });
  },
};

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The beginning of a day such as `2026-01-31`; undefined for other texts. */
function timeOfDay(text: string): number | undefined {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && dayOf(time) === text ? time : undefined;
}

/** Whether a token was neither created nor used since a time. An invalid date of the last use does not count. */
function isUnused({ metadata }: TokenSecret, since: number, { labels: prefix }: Names): boolean {
  const { creationTimestamp = '', deletionTimestamp, labels = {} } = metadata;
  if (deletionTimestamp !== undefined || Date.parse(creationTimestamp) >= since) return false;
  const lastUsed = labels[`${prefix}/legacy-token-last-used`];
  return lastUsed === undefined || (timeOfDay(lastUsed) !== undefined && lastUsed < dayOf(since));
}

/** Whether pods use a secret; those of a namespace are looked at once. */
function usedSecrets(pods: Informer<ObjectOf<typeof Pod>>): (secret: TokenSecret) => boolean {
  const byNamespace = new Map<string, ReadonlySet<string>>();
  return ({ metadata: { namespace = '', name = '' } }) => {
    const used = byNamespace.get(namespace) ?? new Set(pods.list(namespace).flatMap(({ spec }) => secretsIn(spec)));
    byNamespace.set(namespace, used);
    return used.has(name);
  };
}

/** Fields whose objects name a secret. */
const references = new Set(['secretRef', 'secretKeyRef', 'nodePublishSecretRef', 'secret', 'imagePullSecrets']);

/** The names of the secrets that a part of a pod refers to. */
function secretsIn(value: Json | undefined, isReference = false): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => secretsIn(item, isReference));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    typeof item !== 'string'
      ? secretsIn(item, references.has(key))
      : key === 'secretName' || (isReference && key === 'name')
        ? [item]
        : [],
  );
}
