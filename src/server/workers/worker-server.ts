import type { Socket } from 'node:net';
import { type ConnectionCounts, type Listener, listen } from '../../http/index.ts';
import { namesFor, serverTurns } from '../../meta/index.ts';
import type { Store } from '../../store/index.ts';
import type { Tls } from '../certificates/tls.ts';
import { TrustedAuthorities } from '../certificates/trusted-authorities.ts';
import { systemClock } from '../clock.ts';
import { followFlowObjects } from '../cluster/flow-control.ts';
import { hookNames, PostStartHooks } from '../cluster/post-start-hooks.ts';
import { compose, type ServerComponents } from '../compose.ts';
import { createCustomResources } from '../custom-resources.ts';
import { type Log, logOf } from '../dependencies.ts';
import { type Listening, processListening, wireTls } from '../listener.ts';
import { systemRandom } from '../random.ts';
import { repeat } from '../repeat.ts';
import { adjustSeatsMs } from '../server.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { shutDown } from '../shut-down.ts';
import type { Publication, WorkerStart } from './messages.ts';
import type { Owner } from './owner.ts';

export interface WorkerOptions extends Omit<WorkerStart, 'hasBoard'> {
  /** The store of the owner. It is closed with the worker. */
  readonly store: Store;
  readonly owner: Owner;
  readonly log: Log;
  readonly setLogLevels: (text: string) => void;
}

/** A process that serves requests of a server whose store, controllers and bootstrap objects another one has. */
export interface WorkerServer extends Pick<ServerComponents, 'metrics'> {
  /** Tells how clients reach the server. */
  publish(publication: Publication): Promise<void>;
  /** Serves a connection; must be called after `publish`. */
  take(socket: Socket): void;
  metricLines(): ReturnType<ServerComponents['metrics']['lines']>;
  /** Finishes the requests in flight, and closes everything. */
  stop(): Promise<void>;
}

/** Opens a worker. Resolves when it can serve requests. @throws StartError, StoreError */
export async function openWorker(options: WorkerOptions): Promise<WorkerServer> {
  const { settings, owner, store, log, identity } = options;
  const dependencies = { clock: systemClock, random: systemRandom, trusted: new TrustedAuthorities(), log, identity };
  const { clock, trusted } = dependencies;
  const names = namesFor(settings.apiDomain);
  const state: WorkerState = {
    closing: false,
    address: '',
    tls: () => undefined,
    connections: () => undefined,
    hooks: new PostStartHooks(),
    others: () => ({ ...alone, setLogLevels: options.setLogLevels }),
  };
  const components = await compose({ ...dependencies, settings, names, state, store, owner });
  const { registry, flowControl, rightsLoaded, handler, metrics } = components;
  const customResources = createCustomResources({ ...dependencies, ...components, names });
  await Promise.all([
    customResources.start(),
    rightsLoaded,
    flowControl && followFlowObjects(registry, names, flowControl, () => undefined),
  ]);
  state.hooks.done(...hookNames);
  const stopAdjusting = repeat(clock, adjustSeatsMs, async () => flowControl?.adjust());
  let listener: Listener | undefined;
  return {
    metrics,
    metricLines: () => metrics.lines(serverTurns()),
    async publish({ tls, url }) {
      Object.assign(state, { tls: () => tls, address: new URL(url).host });
      trusted.replace(tls);
      if (listener !== undefined) return listener.renew(wireTls(tls, trusted));
      const opened = await openListener(settings, handler, log, wireTls(tls, trusted));
      trusted.onFrontChange(() => opened.renew(wireTls(state.tls() ?? tls, trusted)));
      state.connections = opened.counts;
      listener = opened;
    },
    take(socket) {
      if (listener === undefined) socket.destroy();
      else listener.take(socket);
    },
    stop() {
      state.closing = true;
      const opening = listener && Promise.resolve(listeningOf(listener));
      return shutDown(components, opening, settings, dependencies, [stopAdjusting, () => customResources.stop()]);
    },
  };
}

interface WorkerState {
  closing: boolean;
  address: string;
  tls: () => Tls | undefined;
  connections: () => ConnectionCounts | undefined;
  readonly hooks: PostStartHooks;
  readonly others: () => typeof alone;
}

/** A worker does not know the others: the owner adds up their metrics. */
const alone = {
  metricLines: async () => [],
  resetMetrics: async () => undefined,
  setLogLevels: (_: string): void => undefined,
};

const openListener = async (
  settings: ServerSettings,
  handler: ServerComponents['handler'],
  log: Log,
  tls: ReturnType<typeof wireTls>,
): Promise<Listener> =>
  listen({
    handler,
    address: '',
    port: undefined,
    tls,
    clock: systemClock,
    log: logOf(log, 'http'),
    ...(await processListening(settings)),
  });

const listeningOf = (listener: Listener): Pick<Listening, 'busy' | 'close'> => ({
  busy: () => listener.busy > 0,
  close: (graceMs) => listener.close(graceMs),
});
