import { createStoreHost, RevisionBoard } from '../../store/index.ts';
import type { ServerComponents } from '../compose.ts';
import type { Dependencies } from '../dependencies.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { ownerCalls } from './owner-calls.ts';
import { Workers } from './workers.ts';

/** The time that a worker has to stop after the grace period before it is killed (ms). */
const lateMs = 10_000;

interface Options extends Pick<Dependencies, 'clock' | 'log' | 'identity'> {
  readonly settings: ServerSettings;
  readonly components: ServerComponents;
  /** Whether other servers write to the store: its latest revision must then be asked of it. */
  readonly isShared: boolean;
}

/** Creates the other processes of a server, which are to be started; undefined when the settings say that there are none. */
export function createWorkers({ settings, components, isShared, clock, log, identity }: Options): Workers | undefined {
  const count = settings.workers - 1;
  if (count === 0) return undefined;
  const { dataDir } = settings;
  const board = isShared || dataDir === undefined ? undefined : RevisionBoard.create(dataDir);
  const workers: Workers = new Workers({
    count,
    // The owner stops its workers after the delay.
    start: { settings: { ...settings, shutdownDelayDuration: 0 }, identity, hasBoard: board !== undefined },
    host: createStoreHost(components.bareStore, clock, board),
    board: board?.descriptor,
    calls: ownerCalls(components, log, () => workers),
    metrics: components.metrics,
    clock,
    log,
    stopMs: settings.shutdownGracePeriod + lateMs,
  });
  return workers;
}
