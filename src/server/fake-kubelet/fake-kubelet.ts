import { isFakeHost } from '../../controllers/index.ts';
import {
  type ApiRequest,
  type ApiResponse,
  isWebSocket,
  MessageBody,
  type NodeProxy,
  openWebSocket,
} from '../../http/index.ts';
import { type Clock, type Names, StatusError, statusError, streamProtocols } from '../../meta/index.ts';
import type { Endpoint } from '../../registry/index.ts';
import { Pod } from '../../types/core-v1.ts';
import type { Backend } from '../backend.ts';
import { exitStatus } from './exit-status.ts';
import { commandResult, containerLog, httpPage, type PodObject } from './pod-annotations.ts';
import { type Channels, spdyAnswer } from './spdy.ts';

export interface FakeKubeletOptions {
  /** Number of fake nodes. */
  readonly count: number;
  readonly names: Names;
  readonly clock: Clock;
  readonly backend: Pick<Backend, 'registry'>;
}

/** Interval at which a followed log checks whether its container has ended (ms). */
const followMs = 1_000;

/** Handles requests to fake nodes and their pods, and passes others to the proxy. */
export function withFakeKubelets(proxy: NodeProxy, options: FakeKubeletOptions): NodeProxy {
  const kubelet = new FakeKubelet(options);
  const isFake = ({ host }: Endpoint) => isFakeHost(host, options.count);
  return {
    text: (request, endpoint, name) =>
      isFake(endpoint) ? kubelet.log(request, endpoint.path) : proxy.text(request, endpoint, name),
    proxy: (request, endpoint, path) =>
      isFake(endpoint) ? kubelet.page(endpoint.host) : proxy.proxy(request, endpoint, path),
    upgrade: (request, endpoint, path, guarded) =>
      isFake(endpoint) ? kubelet.upgrade(request, path) : proxy.upgrade(request, endpoint, path, guarded),
    close: () => proxy.close(),
  };
}

/** A parsed request to a kubelet. */
interface KubeletRequest {
  readonly action: string;
  readonly pod: PodObject;
  readonly container: string;
  readonly query: URLSearchParams;
}

class FakeKubelet {
  readonly #options: FakeKubeletOptions;

  constructor(options: FakeKubeletOptions) {
    this.#options = options;
  }

  async log({ signal }: ApiRequest, path: string): Promise<ApiResponse> {
    const { pod, container, query } = await this.#read(path);
    const isFollowed = query.get('follow') === 'true';
    const body = this.#logPieces(pod, container, query, isFollowed ? signal : undefined);
    return { status: 200, headers: { 'content-type': 'text/plain' }, body, waits: true };
  }

  /** The response to any HTTP request to the address of a pod. @throws StatusError 404 when no pod has it */
  async page(host: string): Promise<ApiResponse> {
    const { names, backend } = this.#options;
    const pods = await backend.registry.objects.list(Pod, '');
    const pod = pods.find(({ status }) => status?.podIP === host);
    if (pod === undefined) throw new StatusError(404, 'NotFound', `nothing is served at ${host}, which is fake`);
    return {
      status: 200,
      headers: { 'content-type': 'text/plain' },
      body: Buffer.from(httpPage(pod, names)),
    };
  }

  async upgrade(request: ApiRequest, path: string): Promise<ApiResponse> {
    const kubeletRequest = await this.#read(path);
    const channels =
      kubeletRequest.action === 'portForward'
        ? this.#ports(kubeletRequest)
        : this.#streams(kubeletRequest, request.signal);
    return request.upgrades && isWebSocket(request.headers)
      ? webSocketAnswer(request, channels)
      : spdyAnswer(request, channels);
  }

  /** @throws StatusError 404 for an unknown path */
  async #read(path: string): Promise<KubeletRequest> {
    const { pathname, searchParams: query } = new URL(path, 'https://kubelet');
    const [, action = '', namespace = '', name = '', container = ''] = pathname.split('/').map(decodeURIComponent);
    if (!['containerLogs', 'exec', 'attach', 'portForward'].includes(action)) {
      throw new StatusError(404, 'NotFound', `fake nodes do not serve ${pathname}`);
    }
    const pod = await this.#options.backend.registry.objects.read(Pod, namespace, name);
    return { action, pod, container, query };
  }

  /** The log. With a signal it ends with the container. @throws StatusError */
  #logPieces(pod: PodObject, container: string, query: URLSearchParams, signal?: AbortSignal): AsyncIterable<Buffer> {
    const { names } = this.#options;
    const numberOf = (name: string) => (query.has(name) ? Number(query.get(name)) : undefined);
    const started = startOf(pod, container, query.get('previous') === 'true');
    const text = containerLog(pod, names, container, started, {
      tailLines: numberOf('tailLines'),
      limitBytes: numberOf('limitBytes'),
      timestamps: query.get('timestamps') === 'true',
    });
    const ended = signal === undefined ? Promise.resolve() : this.#ended(pod, container, signal);
    return (async function* () {
      if (text.length > 0) yield text;
      await ended;
    })();
  }

  /** Resolves once the container has ended, or the client is gone. */
  async #ended({ metadata: { namespace = '', name = '', uid } }: PodObject, container: string, signal: AbortSignal) {
    const { clock, backend } = this.#options;
    const runs = async () => {
      const pod = await backend.registry.objects.get(Pod, namespace, name);
      return pod?.metadata.uid === uid && pod !== undefined && stateOf(pod, container)?.state?.running !== undefined;
    };
    while (!signal.aborted && (await runs())) {
      await new Promise<void>((resolve) => {
        const stop = () => {
          cancel();
          signal.removeEventListener('abort', stop);
          resolve();
        };
        const cancel = clock.after(followMs, stop);
        signal.addEventListener('abort', stop);
      });
    }
  }

  /** The output of a command, or of the container. */
  #streams({ action, pod, container, query }: KubeletRequest, signal: AbortSignal): Channels {
    if (stateOf(pod, container)?.state?.running === undefined) {
      throw new StatusError(
        500,
        '',
        `unable to upgrade connection: container not found (${JSON.stringify(container)})`,
      );
    }
    if (action === 'attach')
      return { type: 'streams', output: this.#logPieces(pod, container, query, signal), exitCode: 0 };
    const { output, exitCode } = commandResult(pod, this.#options.names, container, query.getAll('command'));
    return { type: 'streams', output: singleChunk(output), exitCode };
  }

  #ports({ pod, query }: KubeletRequest): Channels {
    const page = httpPage(pod, this.#options.names);
    const head = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(page)}\r\nConnection: close`;
    const ports = query.getAll('port').flatMap((text) => text.split(',').map(Number));
    return { type: 'ports', ports, response: `${head}\r\n\r\n${page}` };
  }
}

async function* singleChunk(text: string): AsyncGenerator<Buffer> {
  if (text !== '') yield Buffer.from(text);
}

type ContainerStatus = NonNullable<NonNullable<PodObject['status']>['containerStatuses']>[number];

function stateOf({ status = {} }: PodObject, container: string): ContainerStatus | undefined {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].find(
    ({ name }) => name === container,
  );
}

/** The start time of the container, with `previous` that of its previous run. @throws StatusError 400 when there is none */
function startOf(pod: PodObject, container: string, previous: boolean): string {
  const { state, lastState } = stateOf(pod, container) ?? {};
  const { name = '' } = pod.metadata;
  if (previous) {
    if (lastState?.terminated !== undefined) return lastState.terminated.startedAt ?? '';
    const what = `previous terminated container ${JSON.stringify(container)} in pod ${JSON.stringify(name)}`;
    throw statusError.badRequest(`${what} not found`);
  }
  const ran = state?.running ?? state?.terminated ?? lastState?.terminated;
  if (ran !== undefined) return ran.startedAt ?? '';
  const what = `container ${JSON.stringify(container)} in pod ${JSON.stringify(name)}`;
  throw statusError.badRequest(`${what} is waiting to start: ${state?.waiting?.reason ?? 'ContainerCreating'}`);
}

/** The first byte of each message is its channel. */
const webSocketChannels = { output: 1, error: 3 } as const;

/** Sends the channels as messages of a WebSocket. Input is discarded. */
function webSocketAnswer(request: ApiRequest, channels: Channels): ApiResponse {
  const opening = openWebSocket(request, streamProtocols[channels.type === 'ports' ? 'port' : 'command']);
  if (opening.status !== 101) return opening;
  const messages = channels.type === 'ports' ? portMessages(channels) : streamMessages(channels);
  return { ...opening, body: new MessageBody(messages, 'binary'), waits: true };
}

const message = (channel: number, data: Uint8Array | string): Buffer =>
  Buffer.concat([Buffer.of(channel), Buffer.from(data as Uint8Array)]);

async function* streamMessages(channels: Extract<Channels, { type: 'streams' }>): AsyncGenerator<Buffer> {
  for await (const piece of channels.output) yield message(webSocketChannels.output, piece);
  yield message(webSocketChannels.error, JSON.stringify(exitStatus(channels.exitCode)));
}

async function* portMessages({ ports, response }: Extract<Channels, { type: 'ports' }>): AsyncGenerator<Buffer> {
  for (const [i, port] of ports.entries()) {
    const number = Buffer.from(Uint16Array.of(port).buffer);
    yield message(2 * i, number);
    yield message(2 * i + 1, number);
    yield message(2 * i, response);
  }
}
