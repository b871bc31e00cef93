import { formatGroupResource, type GroupResource } from '../meta/index.ts';
import { aesCbc, aesGcm, type Cipher, encryptedMark, type MakeCipher, type RandomBytes } from './cipher.ts';
import type { EncryptionConfiguration, Key, KmsConfiguration, ProviderConfiguration } from './configuration.ts';
import { patternsOf } from './resource-pattern.ts';
import { noEncryption, type Provider, type TransformationObserver, Transformer } from './transformer.ts';

interface RuleOptions {
  readonly randomBytes: RandomBytes;
  readonly observer: TransformationObserver;
  readonly secretbox: MakeCipher;
  /** The cipher of a KMS plugin. */
  readonly kms: (configuration: KmsConfiguration) => Cipher;
}

/** Which providers each resource has, by a configuration that is valid. */
export class EncryptionRules {
  /** By pattern. */
  readonly #providers = new Map<string, Provider[]>();
  /** By resource, made on first use. */
  readonly #transformers = new Map<string, Transformer>();
  readonly #observer: TransformationObserver;
  /** The most bytes by which a value grows. */
  readonly overhead: number;

  constructor({ resources = [] }: EncryptionConfiguration, options: RuleOptions) {
    this.#observer = options.observer;
    for (const entry of resources) {
      const providers = (entry.providers ?? []).flatMap((provider) => providersOf(provider, options));
      for (const pattern of entry.resources ?? []) {
        // The providers of several entries for a resource all count, in their order.
        this.#providers.set(pattern, [...(this.#providers.get(pattern) ?? []), ...providers]);
      }
    }
    const writing = [...this.#providers.values()].map(([first]) => first?.overhead ?? 0);
    this.overhead = writing.reduce((most, bytes) => Math.max(most, bytes), 0);
  }

  /** The transformer of a resource; one that no rule is for is not encrypted. */
  transformerOf(resource: GroupResource): Transformer {
    const id = formatGroupResource(resource);
    let found = this.#transformers.get(id);
    if (found === undefined) {
      const pattern = patternsOf(resource).find((one) => this.#providers.has(one));
      found = new Transformer((pattern !== undefined && this.#providers.get(pattern)) || [], id, this.#observer);
      this.#transformers.set(id, found);
    }
    return found;
  }
}

/** More bytes than the nonce, the padding and the tag of any cipher with a key of the configuration. */
const localOverhead = 64;
/** The most bytes around a value that a KMS plugin has encrypted the key of: its key, key ID and annotations. */
const kmsOverhead = 40 * 1024;

/** One provider for each key. */
function providersOf(given: ProviderConfiguration, { randomBytes, secretbox, kms }: RuleOptions): Provider[] {
  if (given.kms !== undefined) {
    const type = `${encryptedMark}kms:v2:`;
    const prefix = Buffer.from(`${type}${given.kms.name}:`);
    return [{ prefix, type, cipher: kms(given.kms), overhead: prefix.length + kmsOverhead }];
  }
  const keyed = (name: string, make: MakeCipher, keys: readonly Key[] = []): Provider[] =>
    keys.map((key) => {
      const type = `${encryptedMark}${name}:v1:`;
      const prefix = Buffer.from(`${type}${key.name}:`);
      const cipher = make(Buffer.from(key.secret ?? '', 'base64'), randomBytes);
      return { prefix, type, cipher, overhead: prefix.length + localOverhead };
    });
  if (given.identity !== undefined) return [noEncryption];
  return [
    ...keyed('aescbc', aesCbc, given.aescbc?.keys),
    ...keyed('aesgcm', aesGcm, given.aesgcm?.keys),
    ...keyed('secretbox', secretbox, given.secretbox?.keys),
  ];
}
