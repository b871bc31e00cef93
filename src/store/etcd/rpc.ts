import { fileURLToPath } from 'node:url';
import type * as Grpc from '@grpc/grpc-js';
import { loadGrpc } from '../optional-package.ts';

// The messages of `rpc.proto`. In requests, absent fields have their defaults; in responses every field is there.

interface Header {
  readonly revision: number;
}
export interface KeyValue {
  readonly key: Buffer;
  readonly modRevision: number;
  readonly version: number;
  readonly value: Buffer;
  /** 0 without one. */
  readonly lease: number;
}

export interface RangeRequest {
  readonly key: Buffer;
  /** Exclusive; only `key` is read when absent. */
  readonly rangeEnd?: Buffer;
  readonly limit?: number;
  readonly revision?: number;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
  readonly maxModRevision?: number;
}
export interface RangeResponse {
  readonly header: Header;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  /** The number of keys in the range, whatever the limit. */
  readonly count: number;
}

export interface PutRequest {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly lease?: number;
}
export interface DeleteRangeRequest {
  readonly key: Buffer;
  readonly rangeEnd?: Buffer;
}
export type RequestOp =
  | { readonly requestRange: RangeRequest }
  | { readonly requestPut: PutRequest }
  | { readonly requestDeleteRange: DeleteRangeRequest }
  | { readonly requestTxn: TxnRequest };
export type KeyCompare = { readonly key: Buffer } & (
  | { readonly target: 0; readonly version: number }
  | { readonly target: 2; readonly modRevision: number }
  /** Every key of the range has a revision less than this one. */
  | { readonly target: 2; readonly result: 2; readonly rangeEnd: Buffer; readonly modRevision: number }
);
export interface TxnRequest {
  readonly compare: readonly KeyCompare[];
  readonly success: readonly RequestOp[];
  readonly failure: readonly RequestOp[];
}
export interface TxnResponse {
  readonly header: Header;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly responseRange?: RangeResponse }[];
}

export interface WatchCreateRequest {
  readonly key: Buffer;
  readonly rangeEnd?: Buffer;
  readonly startRevision: number;
  readonly prevKv?: boolean;
  readonly fragment?: boolean;
}
export type WatchRequest =
  | { readonly createRequest: WatchCreateRequest }
  | { readonly progressRequest: { readonly [field: string]: never } };
export interface Event {
  readonly type: 0 | 1;
  readonly kv: KeyValue;
  readonly prevKv: KeyValue | null;
}
export interface WatchResponse {
  readonly header: Header;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: number;
  readonly cancelReason: string;
  readonly fragment: boolean;
  readonly events: readonly Event[];
}

/** `EventType`. */
export const deleted = 1;

/** A method of the API: its path and the encoding of its messages. */
export interface Method<Q, R> {
  readonly path: string;
  readonly requestSerialize: (request: Q) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => R;
}

export interface Rpc {
  readonly grpc: typeof Grpc;
  readonly range: Method<RangeRequest, RangeResponse>;
  readonly txn: Method<TxnRequest, TxnResponse>;
  readonly compact: Method<{ readonly revision: number }, object>;
  readonly watch: Method<WatchRequest, WatchResponse>;
  readonly grantLease: Method<{ readonly TTL: number; readonly ID: number }, { readonly TTL: number }>;
  readonly revokeLease: Method<{ readonly ID: number }, object>;
  /** `TTL` is the remaining time (seconds); -1 when the lease has expired. */
  readonly timeToLive: Method<{ readonly ID: number }, { readonly TTL: number }>;
  readonly status: Method<object, { readonly version: string; readonly dbSize: number }>;
}

let loaded: Promise<Rpc> | undefined;

/**
 * Loads the client on demand, so that servers with another store do not load it, and once: its encoders are compiled. The
 * bundle contains the messages next to it. @throws StoreError `invalid` without the packages of gRPC
 */
export const loadRpc = (): Promise<Rpc> => {
  loaded ??= load();
  return loaded;
};

async function load(): Promise<Rpc> {
  const [grpc, loader] = await loadGrpc('the store "etcd"');
  const file = fileURLToPath(new URL('./rpc.proto', import.meta.url));
  const services = await loader.load(file, { longs: Number, enums: Number, defaults: true });
  const method = <Q, R>(service: string, name: string) =>
    (services[`etcdserverpb.${service}`] as { readonly [name: string]: unknown })[name] as Method<Q, R>;
  return {
    grpc,
    range: method('KV', 'Range'),
    txn: method('KV', 'Txn'),
    compact: method('KV', 'Compact'),
    watch: method('Watch', 'Watch'),
    grantLease: method('Lease', 'LeaseGrant'),
    revokeLease: method('Lease', 'LeaseRevoke'),
    timeToLive: method('Lease', 'LeaseTimeToLive'),
    status: method('Maintenance', 'Status'),
  };
}
