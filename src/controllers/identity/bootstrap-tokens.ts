/** Bootstrap tokens: secrets in the system namespace with which new nodes identify themselves and the cluster. */

import { createHmac } from 'node:crypto';
import { type Informer, type Informers, keyIn, keyOf } from '../../client/index.ts';
import { type Names, parseInstant } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import type { Secret } from '../../types/core-v1.ts';
import { ignoreGone } from '../shared/errors.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller } from '../types.ts';

type TokenSecret = ObjectOf<typeof Secret>;

const tokensOf = (informers: Informers, { systemNamespace, labels }: Names): Informer<TokenSecret> =>
  informers.of(kinds.secrets, {
    fieldSelector: `metadata.namespace=${systemNamespace},type=bootstrap.${labels}/token`,
  });

const dataOf = ({ data = {} }: TokenSecret, key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();

/** The remaining validity of the token (ms); 0 or less when it has expired or its expiration is invalid. */
function lifeOf(token: TokenSecret, now: number): number {
  const expiration = dataOf(token, 'expiration');
  if (expiration === '') return Number.POSITIVE_INFINITY;
  try {
    const { seconds, nanos } = parseInstant(expiration);
    return seconds * 1000 + nanos / 1e6 - now;
  } catch {
    return 0;
  }
}

/** Deletes bootstrap tokens when they expire. */
export const tokenCleaner: Controller = {
  name: 'token-cleaner-controller',
  needs: [kinds.secrets],
  account: 'token-cleaner',
  start({ client, informers, names, clock, queue }) {
    const tokens = tokensOf(informers, names);
    const work = queue('token_cleaner', async (key) => {
      const token = tokens.getByKey(key);
      const life = token === undefined ? Number.POSITIVE_INFINITY : lifeOf(token, clock.now());
      if (token !== undefined && life <= 0) {
        await client.kind(kinds.secrets).delete(token.metadata).catch(ignoreGone);
      }
      return life > 0 && Number.isFinite(life) ? { requeueAfterMs: life } : {};
    });
    tokens.onChange((token) => {
      if (token !== undefined) work.add(keyOf(token));
    });
  },
};

const kubeconfigKey = 'kubeconfig';
const signaturePrefix = 'jws-kubeconfig-';

/**
 * Signs the kubeconfig of the config map `cluster-info` in the public namespace with every bootstrap token for signing,
 * and removes the signatures of others.
 */
export const bootstrapSigner: Controller = {
  name: 'bootstrap-signer-controller',
  needs: [kinds.configMaps, kinds.secrets],
  account: 'bootstrap-signer',
  start({ client, informers, names, clock, queue }) {
    const [namespace, name] = [names.publicNamespace, 'cluster-info'];
    const tokens = tokensOf(informers, names);
    const maps = informers.of(kinds.configMaps, {
      fieldSelector: `metadata.name=${name},metadata.namespace=${namespace}`,
    });
    const work = queue('bootstrap_signer_queue', async (key) => {
      const map = maps.getByKey(key);
      const kubeconfig = map?.data?.[kubeconfigKey];
      if (map === undefined || kubeconfig === undefined) return;
      const entries = Object.entries(map.data ?? {});
      const others = entries.filter(([entry]) => !entry.startsWith(signaturePrefix));
      const signatures = tokens
        .list()
        .filter((token) => maySign(token, clock.now()))
        .map((token) => signatureOf(token, kubeconfig));
      const current = entries.length - others.length === signatures.length;
      if (current && signatures.every(([entry, signature]) => map.data?.[entry] === signature)) return;
      const data = Object.fromEntries([...others, ...signatures]);
      await client.kind(kinds.configMaps).update({ ...map, data });
    });
    const sign = () => work.add(keyIn(namespace, name));
    maps.onChange((map) => {
      if (map !== undefined) sign();
    });
    tokens.onChange(sign);
  },
};

const nameForm = /^bootstrap-token-([a-z0-9]{6})$/;

function maySign(token: TokenSecret, now: number): boolean {
  const [, id] = nameForm.exec(token.metadata.name ?? '') ?? [];
  return (
    id !== undefined &&
    dataOf(token, 'token-id') === id &&
    dataOf(token, 'token-secret') !== '' &&
    dataOf(token, 'usage-bootstrap-signing') === 'true' &&
    lifeOf(token, now) > 0
  );
}

/** The entry with the detached signature of a text (RFC 7515, appendix F). */
function signatureOf(token: TokenSecret, text: string): [key: string, signature: string] {
  const id = dataOf(token, 'token-id');
  const [header, payload] = [JSON.stringify({ alg: 'HS256', kid: id }), text].map((part) =>
    Buffer.from(part).toString('base64url'),
  );
  const secret = Buffer.from(token.data?.['token-secret'] ?? '', 'base64');
  const signature = createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url');
  return [signaturePrefix + id, `${header}..${signature}`];
}
