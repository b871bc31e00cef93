/** The types of events/v1. */
import { field, type Infer, int32, microTime, string, struct, time } from '../schema/index.ts';
import { EventSource, ObjectReference } from './core-v1.ts';
import { ObjectMeta, typeMeta } from './meta-v1.ts';

export const EventSeries = struct('events/v1.EventSeries', {
  count: field(1, int32, { required: true, emptyOk: true, always: true }),
  lastObservedTime: field(2, microTime, { required: true, emptyOk: true, always: true }),
});

export const Event = struct('events/v1.Event', {
  ...typeMeta,
  metadata: field(1, ObjectMeta, { always: true }),
  eventTime: field(2, microTime, { required: true, emptyOk: true, always: true }),
  series: field(3, EventSeries, { nullable: true }),
  reportingController: field(4, string),
  reportingInstance: field(5, string),
  action: field(6, string),
  reason: field(7, string),
  regarding: field(8, ObjectReference),
  related: field(9, ObjectReference, { nullable: true }),
  note: field(10, string),
  type: field(11, string),
  deprecatedSource: field(12, EventSource),
  deprecatedFirstTimestamp: field(13, time),
  deprecatedLastTimestamp: field(14, time),
  deprecatedCount: field(15, int32),
});
export type Event = Infer<typeof Event>;
