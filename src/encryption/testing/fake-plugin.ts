import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { loadPluginApi } from '../kms/plugin.ts';

type Reply = (error: { readonly code: grpc.status; readonly details: string } | null, answer?: object) => void;
interface Call {
  readonly request: {
    readonly plaintext: Buffer;
    readonly ciphertext: Buffer;
    readonly keyId: string;
    readonly uid: string;
    readonly annotations: { readonly [name: string]: Buffer };
  };
}

/** A KMS plugin of version 2 on a socket, with keys in memory. */
export interface FakePlugin {
  readonly endpoint: string;
  /** Its status, and what it refuses to do; changed by the test. */
  version: string;
  healthz: string;
  keyId: string;
  annotations: { [name: string]: Buffer };
  /** The key ID of encryptions, when it is not that of the status. */
  encryptsWith: string | undefined;
  failure: grpc.status | undefined;
  /** Whether calls are never answered. */
  hangs: boolean;
  /** A wrong plaintext that it returns from decryptions. */
  decrypted: Buffer | undefined;
  /** The names of the calls so far. */
  readonly calls: string[];
  stop(): void;
}

/** `address`: that of gRPC, where it is not the endpoint. */
export async function startFakePlugin(
  socket = join(mkdtempSync(join(tmpdir(), 'kms-')), 's'),
  address?: string,
): Promise<FakePlugin> {
  const { service } = await loadPluginApi();
  const server = new grpc.Server();
  const keys = new Map<string, Buffer>();
  const keyOf = (id: string) => {
    const key = keys.get(id) ?? randomBytes(32);
    keys.set(id, key);
    return key;
  };
  const plugin: FakePlugin = {
    endpoint: `unix://${socket}`,
    version: 'v2',
    healthz: 'ok',
    keyId: 'key-1',
    annotations: { 'version.plugin.example': Buffer.from('1') },
    encryptsWith: undefined,
    failure: undefined,
    hangs: false,
    decrypted: undefined,
    calls: [],
    stop: () => server.forceShutdown(),
  };
  const answering = (name: string, answer: (call: Call) => object) => (call: Call, reply: Reply) => {
    plugin.calls.push(name);
    if (plugin.hangs) return;
    if (plugin.failure !== undefined) return reply({ code: plugin.failure, details: `${name} is refused` });
    try {
      reply(null, answer(call));
    } catch {
      reply({ code: grpc.status.INVALID_ARGUMENT, details: 'not encrypted here' });
    }
  };
  server.addService(service, {
    Status: answering('Status', () => ({ version: plugin.version, healthz: plugin.healthz, keyId: plugin.keyId })),
    Encrypt: answering('Encrypt', ({ request: { plaintext } }) => {
      const keyId = plugin.encryptsWith ?? plugin.keyId;
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', keyOf(keyId), nonce);
      const ciphertext = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
      return { ciphertext, keyId, annotations: plugin.annotations };
    }),
    Decrypt: answering('Decrypt', ({ request: { ciphertext, keyId, annotations } }) => {
      if (annotations['version.plugin.example']?.toString() !== '1') throw new Error('annotations are missing');
      const cipher = createDecipheriv('aes-256-gcm', keyOf(keyId), ciphertext.subarray(0, 12));
      cipher.setAuthTag(ciphertext.subarray(-16));
      if (plugin.decrypted !== undefined) return { plaintext: plugin.decrypted };
      return { plaintext: Buffer.concat([cipher.update(ciphertext.subarray(12, -16)), cipher.final()]) };
    }),
  });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(address ?? plugin.endpoint, grpc.ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  return plugin;
}
