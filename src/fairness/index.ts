/** API priority and fairness: classification of requests, priority levels with seats and queues, and their state as text. */

export type { FlowAttributes } from './classify.ts';
export { dumpLevels, dumpQueues, dumpRequests } from './dump.ts';
export { FlowControl, type FlowObserver, type MandatoryObjects, type RequestKind } from './flow-control.ts';
export type { FlowRequest, FlowSeries, Phase } from './flow-request.ts';
export type { LevelConfiguration, PriorityLevel } from './level.ts';
export type { Refusal } from './queue-set.ts';
export type { LevelSamples, TimedSample } from './usage.ts';
export { listWork, oneSeat, type Work, writeWork } from './work.ts';
