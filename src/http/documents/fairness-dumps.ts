import { dumpLevels, dumpQueues, dumpRequests, type FlowControl } from '../../fairness/index.ts';
import { inTurns, type Steps } from '../../meta/index.ts';
import { textAnswer } from '../answers.ts';
import type { Call } from '../call.ts';
import type { Query } from '../request-info.ts';
import type { ApiResponse } from '../types.ts';

const root = '/debug/api_priority_and_fairness/';

type Dump = (flowControl: FlowControl, query: Query) => Steps<string>;

const dumps: ReadonlyMap<string, Dump> = new Map<string, Dump>([
  ['dump_priority_levels', ({ levels }) => dumpLevels(levels)],
  ['dump_queues', ({ levels }) => dumpQueues(levels)],
  [
    'dump_requests',
    ({ levels, clock }, query) => dumpRequests(levels, clock, (query.get('includeRequestDetails') ?? '') !== ''),
  ],
]);

/** The state of priority levels, queues and requests as text; undefined when the path is of none. */
export function serveFairnessDump(
  flowControl: FlowControl,
  { info: { path, query }, turns }: Pick<Call, 'info' | 'turns'>,
): Promise<ApiResponse> | undefined {
  const dump = path.startsWith(root) ? dumps.get(path.slice(root.length)) : undefined;
  return dump && inTurns(dump(flowControl, query), turns).then((text) => textAnswer(200, text));
}
