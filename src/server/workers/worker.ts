// The entry of a worker process, see ./workers.ts.
import { Socket } from 'node:net';
import { openLinkedStore, RevisionBoard } from '../../store/index.ts';
import { systemClock } from '../clock.ts';
import { logFailures } from '../commands/run-until-signal.ts';
import { type Log, silentLog } from '../dependencies.ts';
import { collectWhenIdle } from '../idle-collection.ts';
import { createLog } from '../observability/log.ts';
import { CallChannel } from './call-channel.ts';
import {
  boardDescriptor,
  connectionMessage,
  type OwnerCalls,
  storeDescriptor,
  type WorkerCalls,
  type WorkerStart,
} from './messages.ts';
import { ownerOver } from './owner.ts';
import { openWorker, type WorkerServer } from './worker-server.ts';

let worker: WorkerServer | undefined;
let setLogLevels = (_: string): void => undefined;
let closed = 0;

const calls: WorkerCalls = {
  start,
  publish: async (publication) => worker?.publish(publication),
  ping: () => undefined,
  metricLines: async () => (await worker?.metricLines()) ?? new Map(),
  resetMetrics: () => worker?.metrics.reset(),
  setLogLevels: (text) => setLogLevels(text),
  stop: async () => worker?.stop(),
};
const channel = new CallChannel<WorkerCalls, OwnerCalls>(calls, (message) => {
  if (process.connected) process.send?.(message);
});

process.on('message', (message: { readonly type: string }, handle: unknown) => {
  if (message.type !== connectionMessage.type) void channel.take(message as Parameters<typeof channel.take>[0]);
  else if (handle instanceof Socket) take(handle);
  // It has ended on its way.
  else countClosed();
});
// The owner has ended, or has stopped this process.
process.once('disconnect', () => process.exit(0));
// A terminal and service managers send signals to all processes; the owner stops its workers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);

async function start({ settings, identity, hasBoard }: WorkerStart): Promise<void> {
  const { logLevel: levels, logFormat: format } = settings;
  const log: Log = levels === undefined ? silentLog : await createLog({ levels, format, identity });
  logFailures(log);
  setLogLevels = (text) => void log.levels?.set(text);
  worker = await openWorker({
    settings,
    identity,
    log,
    store: await openLinkedStore(
      new Socket({ fd: storeDescriptor }),
      hasBoard ? new RevisionBoard(boardDescriptor) : undefined,
    ),
    owner: ownerOver(channel),
    setLogLevels: (text) => void channel.call('setLogLevels', text),
  });
  collectWhenIdle(systemClock);
}

function take(socket: Socket): void {
  socket.once('close', countClosed);
  if (worker === undefined) socket.destroy();
  else worker.take(socket);
}

/** Tells the owner of connections that have ended, of all in one turn of the event loop together. */
function countClosed(): void {
  if (closed++ > 0) return;
  setImmediate(() => {
    void channel.call('closed', closed);
    closed = 0;
  });
}
