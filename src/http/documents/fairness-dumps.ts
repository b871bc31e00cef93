import { dumpLevels, dumpQueues, dumpRequests, type FlowControl } from '../../fairness/index.ts';
import { textAnswer } from '../answers.ts';
import type { Query } from '../request-info.ts';
import type { ApiResponse } from '../types.ts';

const root = '/debug/api_priority_and_fairness/';

/** The state of priority levels, queues and requests as text; undefined when the path is of none. */
export function serveFairnessDump({ levels, clock }: FlowControl, path: string, query: Query): ApiResponse | undefined {
  if (!path.startsWith(root)) return undefined;
  switch (path.slice(root.length)) {
    case 'dump_priority_levels':
      return textAnswer(200, dumpLevels(levels));
    case 'dump_queues':
      return textAnswer(200, dumpQueues(levels));
    case 'dump_requests':
      return textAnswer(200, dumpRequests(levels, clock, (query.get('includeRequestDetails') ?? '') !== ''));
    default:
      return undefined;
  }
}
