/** Encryption at rest: the configuration, the providers and the store that encrypts what it holds. */
export { encryptedMark, type RandomBytes } from './cipher.ts';
export { type EncryptionConfiguration, encryptionFormat, type KmsConfiguration } from './configuration.ts';
export { type EncryptionCounts, emptyEncryptionCounts } from './counts.ts';
export { EncryptedStore } from './encrypted-store.ts';
export { type OpenedEncryption, openEncryption } from './open.ts';
