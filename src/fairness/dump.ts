/** The state of priority levels, queues and requests as text tables, for people. They are made in steps. */
import { type Clock, formatDuration, Pace, type Steps, shorten } from '../meta/index.ts';
import type { PriorityLevel } from './level.ts';
import { Queue, type QueuedRequest, totalWork } from './queue.ts';

type Row = readonly (string | number | boolean)[];

/** Levels, with the requests that wait and execute now, and the numbers of requests since the level exists. */
export function dumpLevels(levels: readonly PriorityLevel[]): Steps<string> {
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
    const { queues, waiting, executing } = queueSet.state;
    const active = [...queues.values()].filter((queue) => queue.waiting.length > 0).length;
    const { dispatched, rejected, timedOut, cancelled } = counts;
    return [
      name,
      active,
      queueSet.idle,
      quiescing,
      waiting,
      executing.length,
      dispatched,
      rejected,
      timedOut,
      cancelled,
    ];
  });
  return table(header, rows);
}

/** Idle queues of a level are shown up to this number. */
const maxIdleQueues = 1024;

/** The queues of all levels; of a level with very many, those that have been used. */
export function dumpQueues(levels: readonly PriorityLevel[]): Steps<string> {
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
  return table(header, queueRows(levels));
}

function* queueRows(levels: readonly PriorityLevel[]): Generator<Row> {
  for (const level of levels) {
    for (const { index, waiting, executing, seatsInUse, nextDispatchR } of queuesOf(level)) {
      const sum = (of: (request: QueuedRequest) => number) => waiting.reduce((all, request) => all + of(request), 0);
      const initialSeats = sum(({ work }) => work.initialSeats);
      const seats = sum((request) => request.seats);
      const work = seatSeconds(sum(totalWork));
      const used = [waiting.length, executing, seatsInUse, seatSeconds(nextDispatchR)];
      yield [level.name, index, ...used, initialSeats, seats, work];
    }
  }
}

function queuesOf({ queueSet }: PriorityLevel): Queue[] {
  const { queues, response } = queueSet.state;
  if (typeof response === 'string' || response.queues > maxIdleQueues) {
    return [...queues.values()].sort((a, b) => a.index - b.index);
  }
  return Array.from({ length: response.queues }, (_, index) => queues.get(index) ?? new Queue(index));
}

/** The requests that wait, in the order of their queues, and those that execute. */
export function dumpRequests(
  levels: readonly PriorityLevel[],
  clock: Pick<Clock, 'now' | 'monotonic'>,
  withDetails: boolean,
): Steps<string> {
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
  return table(withDetails ? [...header, ...details] : header, requestRows(placesOf(levels), offset, withDetails));
}

/** A request, with its place in its queue; -1: it executes. */
interface Placed {
  readonly level: string;
  readonly request: QueuedRequest;
  readonly place: number;
}

/** The requests of this moment: rows are made while they go on. */
const placesOf = (levels: readonly PriorityLevel[]): Placed[] =>
  levels.flatMap(({ name: level, queueSet }) => {
    const { queues, executing } = queueSet.state;
    return [
      ...[...queues.values()]
        .sort((a, b) => a.index - b.index)
        .flatMap(({ waiting }) => waiting.map((request, place) => ({ level, request, place }))),
      ...executing.map((request) => ({ level, request, place: -1 })),
    ];
  });

/** `offset`: from monotonic time to that of the day (ms). */
function* requestRows(placed: readonly Placed[], offset: number, withDetails: boolean): Generator<Row> {
  const timeOf = (monotonic: number) => timeText(offset + monotonic);
  for (const { level, request, place } of placed) {
    const { schema, queue, distinguisher, work, entered, started } = request;
    const start = started === undefined ? neverStarted : timeOf(started);
    const latency = formatDuration(BigInt(Math.round(work.extraMs * 1e6)));
    const { initialSeats, finalSeats } = work;
    const common = [level, schema.name, queue?.index ?? -1, place, distinguisher, timeOf(entered)];
    const shown = [...common, initialSeats, finalSeats, latency, start];
    yield withDetails ? [...shown, ...detailsOf(request)] : shown;
  }
}

function detailsOf({ attributes: { user, verb, path, resource } }: QueuedRequest): Row {
  const { namespace = '', name = '', version = '', resource: plural = '', subresource = '' } = resource ?? {};
  return [user.name, verb, path, namespace, name, version, plural, subresource];
}

const seatSeconds = (value: number): string => `${value.toFixed(8)}ss`;
const neverStarted = '0001-01-01T00:00:00Z';
const timeText = (ms: number): string => new Date(ms).toISOString().replace('Z', '000000Z');

const minWidth = 8;

/**
 * Cells end with a comma; all cells of a column but the last are equally wide. Line feeds in cells are escaped, and long
 * texts are cut.
 */
function* table(header: Row, rows: Iterable<Row>): Steps<string> {
  const last = header.length - 1;
  const pace = new Pace();
  const texts = [cellsOf(header)];
  const widths = header.map(() => minWidth);
  for (const row of rows) {
    texts.push(cellsOf(row));
    if (pace.over(row.length)) yield;
  }
  for (const row of texts) {
    row.forEach((text, i) => {
      widths[i] = Math.max(widths[i] as number, text.length + 1);
    });
    if (pace.over(row.length)) yield;
  }
  let whole = '';
  for (const row of texts) {
    for (const [i, text] of row.entries()) whole += i < last ? text.padEnd(widths[i] as number) : `${text}\n`;
    if (pace.over(row.length)) yield;
  }
  return whole;
}

const cellsOf = (row: Row): string[] =>
  row.map((cell, i) => {
    const text =
      typeof cell === 'string' ? shorten(cell).replace(/[\r\n]/g, (end) => (end === '\n' ? '\\n' : '\\r')) : `${cell}`;
    return i < row.length - 1 ? `${text},` : text;
  });
