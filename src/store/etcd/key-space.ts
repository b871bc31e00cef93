import type { ByteString } from '../../meta/index.ts';
import { afterPrefix, keyText } from '../keys.ts';
import { type Entry, StoreError } from '../store.ts';
import type { KeyValue } from './rpc.ts';

export const bufferOf = (bytes: string): Buffer => Buffer.from(bytes, 'latin1');

/**
 * The keys of the store in etcd: all that begin with a prefix, which the store does not see. After a prefix that does not
 * end with a slash they begin with one, so that `/registry` does not cover `/registry2`.
 */
export class KeySpace {
  readonly #prefix: ByteString;
  readonly #first: ByteString;

  constructor(prefix: ByteString) {
    this.#prefix = prefix;
    this.#first = (prefix === '' || prefix.endsWith('/') ? '' : '/') as ByteString;
  }

  /** Throws `invalid` when the key is not one of the store. */
  key(key: ByteString): Buffer {
    if (!key.startsWith(this.#first)) throw new StoreError('invalid', 'keys of this store begin with a slash');
    return bufferOf(this.#prefix + key);
  }

  /** The range of keys with a prefix, or of those of them that follow `after`. */
  range(prefix: ByteString, after?: ByteString): { readonly key: Buffer; readonly rangeEnd: Buffer } {
    const whole = (this.#prefix + (prefix || this.#first)) as ByteString;
    const first = after === undefined ? whole : `${this.#prefix}${after}\0`;
    // In etcd, a zero byte as the end of a range is the end of all keys.
    return { key: bufferOf(first === '' ? '\0' : first), rangeEnd: bufferOf(afterPrefix(whole) ?? '\0') };
  }

  bytes({ key }: KeyValue): ByteString {
    return key.toString('latin1', this.#prefix.length) as ByteString;
  }

  entry(kv: KeyValue): Entry {
    return { key: keyText(this.bytes(kv)), value: kv.value, revision: kv.modRevision };
  }
}
