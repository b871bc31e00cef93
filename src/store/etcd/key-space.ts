import type { ByteString } from '../../meta/index.ts';
import { afterPrefix, keyText } from '../keys.ts';
import type { Entry } from '../store.ts';
import type { KeyValue } from './rpc.ts';

const bufferOf = (bytes: string): Buffer => Buffer.from(bytes, 'latin1');

/** The keys of the store in etcd: all that begin with a prefix, which the store does not see. */
export class KeySpace {
  readonly #prefix: ByteString;

  constructor(prefix: ByteString) {
    this.#prefix = prefix;
  }

  key(key: ByteString): Buffer {
    return bufferOf(this.#prefix + key);
  }

  /** The range of keys with a prefix, or of those of them that follow `after`. */
  range(prefix: ByteString, after?: ByteString): { readonly key: Buffer; readonly rangeEnd: Buffer } {
    const whole = (this.#prefix + prefix) as ByteString;
    const first = after === undefined ? whole : `${this.#prefix}${after}\0`;
    // Without an end, the range is that of all keys.
    return { key: bufferOf(first === '' ? '\0' : first), rangeEnd: bufferOf(afterPrefix(whole) ?? '\0') };
  }

  bytes({ key }: KeyValue): ByteString {
    return key.toString('latin1', this.#prefix.length) as ByteString;
  }

  entry(kv: KeyValue): Entry {
    return { key: keyText(this.bytes(kv)), value: kv.value, revision: kv.modRevision };
  }
}
