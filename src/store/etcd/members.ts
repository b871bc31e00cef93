import { setImmediate as turn } from 'node:timers/promises';
import type { Client, ClientDuplexStream } from '@grpc/grpc-js';
import type { Clock } from '../../meta/index.ts';
import { closedError } from '../check.ts';
import { pause } from '../timers.ts';
import { isRefusal, isTimeout } from './failure.ts';
import type { Method, Rpc, WatchRequest, WatchResponse } from './rpc.ts';

/** The PEM files of connections to etcd. */
export interface EtcdTls {
  /** The authorities of the members' certificates; those of the system when absent. */
  readonly ca: Buffer | undefined;
  readonly cert: Buffer | undefined;
  readonly key: Buffer | undefined;
}

export interface MemberOptions {
  /** URLs of the members: `http` or `https`, a host and a port. */
  readonly endpoints: readonly string[];
  /** Called for every connection to an `https` endpoint, so that renewed files take effect. */
  readonly tls: () => Promise<EtcdTls>;
  /** The key read to find out the revision. */
  readonly probe: Buffer;
  readonly clock: Clock;
  readonly rpc: Rpc;
}

export type WatchCall = ClientDuplexStream<WatchRequest, WatchResponse>;

export interface Member {
  readonly endpoint: string;
  client: Client;
  /** Whether a call has failed and none has succeeded since. */
  suspect: boolean;
  /** The calls in flight over the current connection. */
  readonly calls: Set<{ cancel(): void }>;
}

/** Deadline of one attempt of a request (ms). */
export const attemptMs = 2_500;
/** A short read without an answer is also sent to another member after this time (ms). */
const silenceMs = 500;
/** Deadline of a probe (ms). */
const probeMs = 500;
/** A request is retried on one member after another for this time (ms). */
export const patienceMs = 10_000;
/** Interval between the probes of members that have failed (ms). */
const probeIntervalMs = 250;
/** The pause after every member has failed (ms). */
export const roundMs = 100;

/** The turns of the event loop for which a read of the revision that was waited for can still be joined. */
const turnsToJoin = 2;

/** Maximum pause between two attempts to connect (ms). */
const longestBackoffMs = 400;

const channelOptions = {
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': longestBackoffMs,
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
  // A commit is never sent twice.
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_http_proxy': 0,
  // Every client has a separate connection.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.max_receive_message_length': 256 * 1024 * 1024,
  'grpc.max_send_message_length': -1,
};

/** The members of an etcd cluster: connections, failover, deadlines. */
export class Members {
  readonly #options: MemberOptions;
  readonly #members: readonly Member[];
  readonly #metadata;
  /** Keeps the process alive, which timers of the clock and idle connections do not. */
  readonly #alive = setInterval(() => undefined, 2 ** 31 - 1);
  #next = 0;
  #closed = false;
  #cancelProbe: (() => void) | undefined;
  #reading: Promise<number> | undefined;
  #readingNext: Promise<number> | undefined;

  /** Throws `unavailable` when the TLS files cannot be used. */
  static async open(options: MemberOptions): Promise<Members> {
    const members = options.endpoints.map(async (endpoint) => {
      return { endpoint, client: await connect(options, endpoint), suspect: false, calls: new Set<WatchCall>() };
    });
    return new Members(options, await Promise.all(members));
  }

  private constructor(options: MemberOptions, members: readonly Member[]) {
    this.#options = options;
    this.#members = members;
    this.#metadata = new options.rpc.grpc.Metadata();
    // A member without a leader refuses at once.
    this.#metadata.set('hasleader', 'true');
  }

  get all(): readonly Member[] {
    return this.#members;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Returns the latest revision. Linearizable: a call shares a read only if the read starts after the call. Calls during a
   * read share the next one, which fails with the current one, since that has been retried for as long as a call may take.
   */
  revision(): Promise<number> {
    if (this.#readingNext !== undefined) return this.#readingNext;
    if (this.#reading !== undefined) {
      this.#readingNext = this.#readAfter(this.#reading);
      return this.#readingNext;
    }
    this.#reading = this.#readRevision().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAfter(reading: Promise<number>): Promise<number> {
    try {
      await reading;
      // A read costs more than the calls that share it, so calls of requests that have arrived meanwhile join.
      for (let turns = 0; turns < turnsToJoin; turns++) await turn();
    } finally {
      this.#readingNext = undefined;
    }
    return this.revision();
  }

  async #readRevision(): Promise<number> {
    const { range } = this.#options.rpc;
    return (await this.readShort(range, { key: this.#options.probe, countOnly: true })).header.revision;
  }

  /** Sends a request that may be repeated to one member after another. */
  read<Q, R>(method: Method<Q, R>, request: Q): Promise<R> {
    return this.#untilAnswered((timeoutMs) => this.send(method, request, timeoutMs));
  }

  /** {@link read} for a short read: a member that does not answer in time is avoided from then on. */
  readShort<Q, R>(method: Method<Q, R>, request: Q): Promise<R> {
    if (this.#members.length === 1) return this.read(method, request);
    return this.#untilAnswered((timeoutMs) => this.#sendToTwo(method, request, timeoutMs));
  }

  async #untilAnswered<R>(attempt: (timeoutMs: number) => Promise<R>): Promise<R> {
    const { clock } = this.#options;
    const until = clock.monotonic() + patienceMs;
    for (let failures = 0; ; ) {
      try {
        return await attempt(Math.min(attemptMs, until - clock.monotonic()));
      } catch (error) {
        if (isRefusal(error) || this.#closed) throw error;
        if (++failures % this.#members.length === 0) await pause(clock, roundMs);
        if (clock.monotonic() >= until) throw error;
      }
    }
  }

  /** Sends a request once. Fails with an error of gRPC, or as `closed`. */
  send<Q, R>(method: Method<Q, R>, request: Q, timeoutMs: number): Promise<R> {
    return this.sendTo(this.#pick(), method, request, timeoutMs);
  }

  /** Returns the first answer. Another member is called too when the first one is silent. */
  #sendToTwo<Q, R>(method: Method<Q, R>, request: Q, timeoutMs: number): Promise<R> {
    return new Promise((resolve, reject) => {
      let pendingCalls = 1;
      const answered = (response: R) => {
        cancel();
        resolve(response);
      };
      const failed = (error: unknown) => {
        cancel();
        pendingCalls--;
        if (pendingCalls === 0) reject(error);
      };
      const first = this.#pick();
      const cancel = this.#options.clock.after(silenceMs, () => {
        pendingCalls++;
        this.suspect(first);
        this.send(method, request, timeoutMs).then(answered, failed);
      });
      this.sendTo(first, method, request, timeoutMs).then(answered, failed);
    });
  }

  async sendTo<Q, R>(member: Member, method: Method<Q, R>, request: Q, timeoutMs: number): Promise<R> {
    if (this.#closed) throw closedError();
    try {
      const response = await this.#call(member, method, request, timeoutMs);
      member.suspect = false;
      return response;
    } catch (error) {
      if (!isRefusal(error)) this.suspect(member);
      throw error;
    }
  }

  /** Opens a watch stream on a member. */
  watch(): { readonly member: Member; readonly call: WatchCall } {
    if (this.#closed) throw closedError();
    const member = this.#pick();
    return { member, call: this.#watchOn(member) };
  }

  #watchOn({ client, calls }: Member): WatchCall {
    const { path, requestSerialize, responseDeserialize } = this.#options.rpc.watch;
    const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, this.#metadata);
    calls.add(call);
    return call.once('status', () => calls.delete(call));
  }

  /** Avoids the member, while there are others, until a request to it has succeeded. */
  suspect(member: Member): void {
    member.suspect = true;
    this.#probeSoon();
  }

  /** Closes the connections once calls in flight have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelProbe?.();
    await Promise.all(this.#members.map(({ client }) => this.#disconnect(client)));
    clearInterval(this.#alive);
  }

  /** Returns the next member in turn, if possible one that is not suspect. */
  #pick(): Member {
    const order = this.#members.map((_, i) => this.#members[(this.#next + i) % this.#members.length] as Member);
    const found = order.find(({ suspect }) => !suspect) ?? (order[0] as Member);
    this.#next = this.#members.indexOf(found) + 1;
    return found;
  }

  #call<Q, R>({ client, calls }: Member, method: Method<Q, R>, request: Q, timeoutMs: number): Promise<R> {
    const { path, requestSerialize, responseDeserialize } = method;
    // gRPC measures deadlines on the clock of the system.
    const options = { deadline: Date.now() + timeoutMs };
    return new Promise((resolve, reject) => {
      const call = client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        this.#metadata,
        options,
        (error, response) => {
          calls.delete(call);
          if (response === undefined) reject(error ?? new Error('no response'));
          else resolve(response);
        },
      );
      calls.add(call);
    });
  }

  #probeSoon(): void {
    if (this.#closed) return;
    this.#cancelProbe ??= this.#options.clock.after(probeIntervalMs, () => {
      void Promise.all(this.#members.filter(({ suspect }) => suspect).map((member) => this.#probe(member))).then(() => {
        this.#cancelProbe = undefined;
        if (this.#members.some(({ suspect }) => suspect)) this.#probeSoon();
      });
    });
  }

  /**
   * Clears the suspicion when the member serves again. A connection over which the member does not answer even for itself
   * is replaced: TCP would retry only at long intervals.
   */
  async #probe(member: Member): Promise<void> {
    const { rpc, probe } = this.#options;
    const [connected] = await Promise.allSettled([
      this.#call(member, rpc.status, {}, probeMs),
      this.sendTo(member, rpc.range, { key: probe, countOnly: true }, probeMs),
    ]);
    if (connected.status === 'rejected' && isTimeout(connected.reason)) await this.#reconnect(member);
  }

  async #reconnect(member: Member): Promise<void> {
    if (this.#isWaiting(member.client)) return;
    try {
      const client = await connect(this.#options, member.endpoint);
      if (this.#closed) client.close();
      else {
        void this.#disconnect(member.client);
        member.client = client;
        for (const call of member.calls) call.cancel();
      }
    } catch {
      // The files are being replaced: the connection stays.
    }
  }

  /** Whether the client waits before it tries to connect again. */
  #isWaiting(client: Client): boolean {
    const { connectivityState } = this.#options.rpc.grpc;
    return client.getChannel().getConnectivityState(false) === connectivityState.TRANSIENT_FAILURE;
  }

  /** A client that is closed between attempts would connect again and stay connected, so the next attempt is awaited first. */
  async #disconnect(client: Client): Promise<void> {
    if (this.#isWaiting(client)) {
      const state = this.#options.rpc.grpc.connectivityState.TRANSIENT_FAILURE;
      const until = Date.now() + 2 * longestBackoffMs;
      await new Promise((resolve) => client.getChannel().watchConnectivityState(state, until, resolve));
    }
    client.close();
  }
}

/** Creates a client with a separate connection. */
async function connect({ rpc, tls }: MemberOptions, endpoint: string): Promise<Client> {
  const { Client: RpcClient, credentials } = rpc.grpc;
  const { protocol, hostname, port } = new URL(endpoint);
  if (protocol !== 'https:') {
    return new RpcClient(`dns:${hostname}:${port || 80}`, credentials.createInsecure(), channelOptions);
  }
  const { ca = null, key = null, cert = null } = await tls();
  const secure = credentials.createSsl(ca, key, cert);
  return new RpcClient(`dns:${hostname}:${port || 443}`, secure, channelOptions);
}
