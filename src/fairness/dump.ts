/** The state of priority levels, queues and requests as text tables, for people. */
import { type Clock, formatDuration } from '../meta/index.ts';
import type { PriorityLevel } from './level.ts';
import { type FlowRequest, Queue, totalWork } from './queue.ts';
import { hasQueues } from './queue-set.ts';

type Row = readonly (string | number | boolean)[];

/** Levels, with the requests that wait and execute now, and the numbers of requests since the level exists. */
export function dumpLevels(levels: readonly PriorityLevel[]): string {
  const header = [
    'PriorityLevelName',
    'ActiveQueues',
    'IsIdle',
    'IsQuiescing',
    'WaitingRequests',
    'ExecutingRequests',
    'DispatchedRequests',
    'RejectedRequests',
    'TimedoutRequests',
    'CancelledRequests',
  ];
  const rows = levels.map(({ name, queueSet, quiescing, counts }): Row => {
    const active = [...queueSet.queues.values()].filter(({ waiting }) => waiting.length > 0).length;
    const { dispatched, rejected, timedOut, cancelled } = counts;
    const { idle, waiting, executing } = queueSet;
    return [name, active, idle, quiescing, waiting, executing.length, dispatched, rejected, timedOut, cancelled];
  });
  return table([header, ...rows]);
}

/** Idle queues of a level are shown up to this number. */
const maxIdleQueues = 1024;

/** The queues of all levels; of a level with very many, those that have been used. */
export function dumpQueues(levels: readonly PriorityLevel[]): string {
  const header = [
    'PriorityLevelName',
    'Index',
    'PendingRequests',
    'ExecutingRequests',
    'SeatsInUse',
    'NextDispatchR',
    'InitialSeatsSum',
    'MaxSeatsSum',
    'TotalWorkSum',
  ];
  const rows = levels.flatMap((level) =>
    queuesOf(level).map((queue): Row => {
      const { index, waiting, executing, seatsInUse, nextDispatchR } = queue;
      const sum = (of: (request: FlowRequest) => number) => waiting.reduce((all, request) => all + of(request), 0);
      const initialSeats = sum(({ work }) => work.initialSeats);
      const seats = sum((request) => request.seats);
      const pending = waiting.length;
      const work = seatSeconds(sum(totalWork));
      return [level.name, index, pending, executing, seatsInUse, seatSeconds(nextDispatchR), initialSeats, seats, work];
    }),
  );
  return table([header, ...rows]);
}

function queuesOf({ queueSet: { queues, response } }: PriorityLevel): Queue[] {
  if (!hasQueues(response) || response.queues > maxIdleQueues) {
    return [...queues.values()].sort((a, b) => a.index - b.index);
  }
  return Array.from({ length: response.queues }, (_, index) => queues.get(index) ?? new Queue(index));
}

/** The requests that wait, in the order of their queues, and those that execute. */
export function dumpRequests(
  levels: readonly PriorityLevel[],
  clock: Pick<Clock, 'now' | 'monotonic'>,
  withDetails: boolean,
): string {
  const header = [
    'PriorityLevelName',
    'FlowSchemaName',
    'QueueIndex',
    'RequestIndexInQueue',
    'FlowDistingsher',
    'ArriveTime',
    'InitialSeats',
    'FinalSeats',
    'AdditionalLatency',
    'StartTime',
  ];
  const details = ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource'];
  const offset = clock.now() - clock.monotonic();
  const timeOf = (monotonic: number) => timeText(offset + monotonic);
  const rows = levels.flatMap(({ name, queueSet }) => {
    const row = (request: FlowRequest, place: number): Row => {
      const { schema, queue, distinguisher, work, entered, started } = request;
      const start = started === undefined ? neverStarted : timeOf(started);
      const index = queue?.index ?? -1;
      const latency = formatDuration(BigInt(Math.round(work.extraMs * 1e6)));
      const { initialSeats, finalSeats } = work;
      const common = [name, schema, index, place, distinguisher, timeOf(entered)];
      const shown = [...common, initialSeats, finalSeats, latency, start];
      return withDetails ? [...shown, ...detailsOf(request)] : shown;
    };
    const waiting = [...queueSet.queues.values()].sort((a, b) => a.index - b.index);
    return [
      ...waiting.flatMap((queue) => queue.waiting.map(row)),
      ...[...queueSet.executing].map((request) => row(request, -1)),
    ];
  });
  return table([withDetails ? [...header, ...details] : header, ...rows]);
}

function detailsOf({ attributes: { user, verb, path, resource } }: FlowRequest): Row {
  const { namespace = '', name = '', version = '', resource: plural = '', subresource = '' } = resource ?? {};
  return [user.name, verb, path, namespace, name, version, plural, subresource];
}

const seatSeconds = (value: number): string => `${value.toFixed(8)}ss`;
const neverStarted = '0001-01-01T00:00:00Z';
const timeText = (ms: number): string => new Date(ms).toISOString().replace('Z', '000000Z');

const minWidth = 8;

/** Cells end with a comma; all cells of a column but the last are equally wide. Line feeds in cells are escaped. */
function table(rows: readonly Row[]): string {
  const texts = rows.map((row) =>
    row.map((cell, i) => {
      const text =
        typeof cell === 'string' ? cell.replace(/[\r\n]/g, (end) => (end === '\n' ? '\\n' : '\\r')) : `${cell}`;
      return i < row.length - 1 ? `${text},` : text;
    }),
  );
  const widths = (texts[0] ?? []).map((_, i) =>
    texts.reduce((widest, row) => Math.max(widest, (row[i] as string).length + 1), minWidth),
  );
  const line = (row: readonly string[]) =>
    row.map((text, i) => (i < row.length - 1 ? text.padEnd(widths[i] as number) : text)).join('');
  return texts.map((row) => `${line(row)}\n`).join('');
}
