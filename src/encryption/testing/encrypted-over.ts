import { randomBytes } from 'node:crypto';
import type { Store } from '../../store/index.ts';
import { loadSecretbox } from '../cipher.ts';
import { EncryptedStore } from '../encrypted-store.ts';
import { EncryptionRules } from '../rules.ts';

const secretbox = await loadSecretbox();
const secrets = { group: '', resource: 'secrets' };

/** A store over `store` that encrypts every value with AES-GCM. */
export function encryptedOver(store: Store): Store {
  const aesgcm = { keys: [{ name: 'k', secret: Buffer.alloc(32, 1).toString('base64') }] };
  const rules = new EncryptionRules(
    { resources: [{ resources: ['secrets'], providers: [{ aesgcm }] }] },
    { randomBytes, secretbox, observer: () => {}, kms: () => Promise.reject() as never },
  );
  return new EncryptedStore({ store, rules: () => rules, resourceOf: () => secrets, pathPrefix: '' });
}
