import { beginsWith, type Cipher, type Decrypted, identity } from './cipher.ts';

/** A cipher with the mark of what it has encrypted. */
export interface Provider {
  /** The first bytes of its values, such as `k8s:enc:aescbc:v1:key1:`; empty for unencrypted ones. */
  readonly prefix: Uint8Array;
  /** The prefix without the name of the key, as in metrics. */
  readonly type: string;
  readonly cipher: Cipher;
  /** The most bytes by which a value grows, the prefix included. */
  readonly overhead: number;
}

/** Receives the outcomes of encryptions and decryptions, as the labels of the reference's metrics. */
export type TransformationObserver = (labels: {
  readonly resource: string;
  readonly transformation_type: 'from_storage' | 'to_storage';
  readonly transformer_prefix: string;
  readonly status: 'OK' | 'Unknown';
}) => void;

export const noEncryption: Provider = { prefix: new Uint8Array(), type: 'identity', cipher: identity, overhead: 0 };

/** The providers of a resource: the first one encrypts, each that knows the prefix of a value may decrypt it. */
export class Transformer {
  readonly #providers: readonly [Provider, ...Provider[]];
  readonly #resource: string;
  readonly #observer: TransformationObserver;

  /** Without a provider, values are not encrypted. `resource` is for the observer. */
  constructor(providers: readonly Provider[], resource: string, observer: TransformationObserver) {
    const [first = noEncryption, ...others] = providers;
    this.#providers = [first, ...others];
    this.#resource = resource;
    this.#observer = observer;
  }

  /** @throws StoreError `unavailable` when the provider has no key at present */
  encrypt(value: Uint8Array, path: string): Uint8Array {
    const [{ prefix, type, cipher }] = this.#providers;
    let ok = false;
    try {
      const data = cipher.encrypt(value, path);
      ok = true;
      return prefix.length === 0 ? data : Buffer.concat([prefix, data]);
    } finally {
      this.#observe('to_storage', type, ok);
    }
  }

  /**
   * The value, `stale` when it would be encrypted otherwise now; undefined when no provider decrypts it.
   * Rejects with a StoreError `unavailable` when that is not known at present.
   */
  decrypt(data: Uint8Array, path: string): Decrypted | undefined | Promise<Decrypted | undefined> {
    return this.#decryptFrom(0, data, path);
  }

  #decryptFrom(start: number, data: Uint8Array, path: string): ReturnType<Transformer['decrypt']> {
    for (let i = start; i < this.#providers.length; i++) {
      const { prefix, type, cipher } = this.#providers[i] as Provider;
      if (!beginsWith(data, prefix)) continue;
      const finish = (found: Decrypted | undefined) => {
        if (found === undefined) return undefined;
        this.#observe('from_storage', type, true);
        return { value: found.value, stale: found.stale || i > 0 };
      };
      const found = cipher.decrypt(data.subarray(prefix.length), path);
      if (found instanceof Promise) return found.then((one) => finish(one) ?? this.#decryptFrom(i + 1, data, path));
      if (found !== undefined) return finish(found);
    }
    this.#observe('from_storage', 'unknown', false);
    return undefined;
  }

  #observe(direction: 'from_storage' | 'to_storage', type: string, ok: boolean): void {
    this.#observer({
      resource: this.#resource,
      transformation_type: direction,
      transformer_prefix: type,
      status: ok ? 'OK' : 'Unknown',
    });
  }
}
