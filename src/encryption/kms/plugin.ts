import type { Client, ServiceError } from '@grpc/grpc-js';
import type { AnyDefinition, MessageTypeDefinition, ServiceDefinition } from '@grpc/proto-loader';
import { loadGrpc } from '../../store/index.ts';

/** The messages of version 2 of the API of KMS plugins, and of what is stored. Numbers and names are the reference's. */
const messages = {
  nested: {
    v2: {
      nested: {
        KeyManagementService: {
          methods: {
            Status: { requestType: 'StatusRequest', responseType: 'StatusResponse' },
            Decrypt: { requestType: 'DecryptRequest', responseType: 'DecryptResponse' },
            Encrypt: { requestType: 'EncryptRequest', responseType: 'EncryptResponse' },
          },
        },
        StatusRequest: { fields: {} },
        StatusResponse: {
          fields: {
            version: { type: 'string', id: 1 },
            healthz: { type: 'string', id: 2 },
            keyId: { type: 'string', id: 3 },
          },
        },
        DecryptRequest: {
          fields: {
            ciphertext: { type: 'bytes', id: 1 },
            uid: { type: 'string', id: 2 },
            keyId: { type: 'string', id: 3 },
            annotations: { keyType: 'string', type: 'bytes', id: 4 },
          },
        },
        DecryptResponse: { fields: { plaintext: { type: 'bytes', id: 1 } } },
        EncryptRequest: { fields: { plaintext: { type: 'bytes', id: 1 }, uid: { type: 'string', id: 2 } } },
        EncryptResponse: {
          fields: {
            ciphertext: { type: 'bytes', id: 1 },
            keyId: { type: 'string', id: 2 },
            annotations: { keyType: 'string', type: 'bytes', id: 3 },
          },
        },
        EncryptedObject: {
          fields: {
            encryptedData: { type: 'bytes', id: 1 },
            keyID: { type: 'string', id: 2 },
            encryptedDEKSource: { type: 'bytes', id: 3 },
            annotations: { keyType: 'string', type: 'bytes', id: 4 },
            encryptedDEKSourceType: { type: 'int32', id: 5 },
          },
        },
      },
    },
  },
};

export interface Annotations {
  readonly [name: string]: Uint8Array;
}

interface PluginStatus {
  readonly version: string;
  readonly healthz: string;
  readonly keyId: string;
}

/** A key that the plugin has encrypted. */
export interface EncryptedKey {
  readonly ciphertext: Uint8Array;
  /** Of the key in the plugin. */
  readonly keyId: string;
  readonly annotations: Annotations;
}

/** The stored message behind the prefix of the provider. */
export interface EncryptedObject {
  readonly encryptedData: Uint8Array;
  readonly keyID: string;
  readonly encryptedDEKSource: Uint8Array;
  readonly annotations: Annotations;
  readonly encryptedDEKSourceType: number;
}

/** A KMS plugin. Calls reject with a {@link PluginError}. */
export interface Plugin {
  status(): Promise<PluginStatus>;
  encrypt(plaintext: Uint8Array, uid: string): Promise<EncryptedKey>;
  decrypt(key: EncryptedKey, uid: string): Promise<Uint8Array>;
  close(): void;
}

export class PluginError extends Error {
  /** Whether the same call may succeed later: the plugin has not been reached, or was busy. */
  readonly transient: boolean;

  constructor(message: string, transient: boolean) {
    super(message);
    this.name = 'PluginError';
    this.transient = transient;
  }
}

export interface PluginApi {
  /** Never waits for the plugin. `endpoint` is that of a socket: `unix:///…`, or `unix:///@…` for an abstract one. */
  connect(endpoint: string, timeoutMs: number): Plugin;
  encode(object: EncryptedObject): Uint8Array;
  /** @throws Error for other bytes */
  decode(bytes: Uint8Array): EncryptedObject;
  /** The service, as a server needs it. */
  readonly service: ServiceDefinition;
}

/** Bytes of a message: a key and its annotations have 34 KiB at most. */
const maxMessageBytes = 256 * 1024;
const longestBackoffMs = 5_000;

/** The address of an endpoint as gRPC takes it: a path, or the name of an abstract socket after a zero byte. */
const addressOf = (endpoint: string): string => endpoint.replace(/^unix:(?:\/\/)?\/@/, 'unix:\0');

/** @throws StoreError `invalid` without the packages of gRPC */
export async function loadPluginApi(): Promise<PluginApi> {
  const [grpc, { fromJSON }] = await loadGrpc('a KMS provider');
  const root = messages as object as Parameters<typeof fromJSON>[0];
  const definitions: { readonly [name: string]: AnyDefinition } = fromJSON(root, { defaults: true });
  const service = definitions['v2.KeyManagementService'] as ServiceDefinition;
  const stored = definitions['v2.EncryptedObject'] as MessageTypeDefinition<EncryptedObject, EncryptedObject>;
  const { UNKNOWN, UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, RESOURCE_EXHAUSTED, ABORTED } = grpc.status;
  const passing = new Set([UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, RESOURCE_EXHAUSTED, ABORTED]);
  // The library has no code and no details for some failures, such as that of a message whose compression it does not know.
  const errorOf = ({ code = UNKNOWN, details = '' }: Partial<ServiceError>) =>
    new PluginError(`${grpc.status[code] ?? code}: ${details.slice(0, 500)}`, passing.has(code));
  const call = <R>(client: Client, name: string, request: object, timeoutMs: number): Promise<R> =>
    new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = service[name] as ServiceDefinition[string];
      const metadata = new grpc.Metadata({ waitForReady: true });
      // The library compares it with the clock of the process.
      const deadline = Date.now() + timeoutMs;
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata,
        { deadline },
        (error, answer) => {
          if (error !== null) reject(errorOf(error));
          else resolve(answer as R);
        },
      );
    });
  return {
    service,
    encode: (object) => stored.serialize(object),
    decode: (bytes) => stored.deserialize(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
    connect(endpoint, timeoutMs) {
      const client = new grpc.Client(addressOf(endpoint), grpc.credentials.createInsecure(), {
        'grpc.max_receive_message_length': maxMessageBytes,
        'grpc.max_reconnect_backoff_ms': longestBackoffMs,
        // Plugins verify the authority of the request.
        'grpc.default_authority': 'localhost',
      });
      return {
        status: () => call<PluginStatus>(client, 'Status', {}, timeoutMs),
        encrypt: (plaintext, uid) => call<EncryptedKey>(client, 'Encrypt', { plaintext, uid }, timeoutMs),
        decrypt: async (key, uid) => {
          const { plaintext } = await call<{ plaintext: Uint8Array }>(client, 'Decrypt', { ...key, uid }, timeoutMs);
          return plaintext;
        },
        close: () => client.close(),
      };
    },
  };
}
