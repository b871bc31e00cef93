import { encryptedMark } from '../../encryption/index.ts';
import type { Names } from '../../meta/index.ts';
import type { Entry } from '../../store/index.ts';
import type { Finding } from './check-findings.ts';
import { openOfflineEncryption } from './offline-encryption.ts';

/** Resolves with the value as it was before its encryption, or with the reason why it cannot be had. */
export type ReadValue = (entry: Entry) => Promise<Uint8Array | Pick<Finding, 'check' | 'message'>>;

export interface Values {
  readonly read: ReadValue;
  close(): void;
}

export interface ValueOptions {
  /** The file of the encryption configuration; undefined: encrypted values are not looked into. */
  readonly encryption: string | undefined;
  /** What precedes the keys in the authenticated paths of encrypted values. */
  readonly pathPrefix: string;
}

/** How the values of a store are read. @throws StartError */
export async function openValues({ encryption, pathPrefix }: ValueOptions, names: Names): Promise<Values> {
  if (encryption === undefined) return plainValues;
  const opened = await openOfflineEncryption(encryption, pathPrefix, names);
  const read: ReadValue = async ({ key, value }) => {
    const decrypted = await opened.decrypt(key, value);
    return decrypted?.value ?? { check: 'decryption', message: 'no key of the configuration decrypts it' };
  };
  return { read, close: () => opened.close() };
}

const plainValues: Values = {
  read: async ({ value }) =>
    Buffer.from(value.subarray(0, encryptedMark.length)).toString('latin1') === encryptedMark
      ? { check: 'encrypted', message: 'it is encrypted: name the --encryption-provider-config to have it checked' }
      : value,
  close: () => {},
};
