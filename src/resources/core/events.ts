import { formatAge } from '../../meta/index.ts';
import { type CellContext, Since } from '../../registry/index.ts';
import { name } from '../cells.ts';
import { type ObjectOf, resource } from '../define.ts';
import { Event } from '../types/core-v1.ts';
import { validateEvent } from './event-rules.ts';

type EventObject = ObjectOf<typeof Event>;

export const events = resource({
  group: '',
  plural: 'events',
  kind: 'Event',
  schema: Event,
  shortNames: ['ev'],
  columns: [
    ['Last Seen', lastSeen],
    ['Type', ({ type = '' }) => type],
    ['Reason', ({ reason = '' }) => reason],
    [
      'Object',
      ({ involvedObject }) =>
        involvedObject?.name
          ? `${involvedObject.kind?.toLowerCase()}/${involvedObject.name}`
          : (involvedObject?.kind?.toLowerCase() ?? ''),
    ],
    ['Subobject', ({ involvedObject }) => involvedObject?.fieldPath ?? '', 'wide'],
    [
      'Source',
      ({ source, reportingComponent = '', reportingInstance = '' }) =>
        formatSource(source?.component ?? reportingComponent, source?.host ?? reportingInstance),
      'wide',
    ],
    ['Message', ({ message = '' }) => message.trim()],
    ['First Seen', ({ firstTimestamp, eventTime }) => new Since(firstTimestamp ?? eventTime), 'wide'],
    ['Count', ({ count, series }) => series?.count ?? count ?? 1, 'wide'],
    { ...name, priority: 1 },
  ],
  selectableFields: [
    { path: 'involvedObject.kind', value: ({ involvedObject }) => involvedObject?.kind ?? '' },
    { path: 'involvedObject.namespace', value: ({ involvedObject }) => involvedObject?.namespace ?? '' },
    { path: 'involvedObject.name', value: ({ involvedObject }) => involvedObject?.name ?? '' },
    { path: 'involvedObject.uid', value: ({ involvedObject }) => involvedObject?.uid ?? '', indexed: true },
    { path: 'involvedObject.apiVersion', value: ({ involvedObject }) => involvedObject?.apiVersion ?? '' },
    { path: 'involvedObject.resourceVersion', value: ({ involvedObject }) => involvedObject?.resourceVersion ?? '' },
    { path: 'involvedObject.fieldPath', value: ({ involvedObject }) => involvedObject?.fieldPath ?? '' },
    { path: 'reason', value: ({ reason = '' }) => reason },
    { path: 'reportingComponent', value: ({ reportingComponent = '' }) => reportingComponent },
    { path: 'source', value: ({ source, reportingComponent = '' }) => source?.component || reportingComponent },
    { path: 'type', value: ({ type = '' }) => type },
  ],
  strategy: {
    ttlSeconds: 3600,
    createOnUpdate: true,
    validate: (event) => validateEvent(event, 'reportingComponent'),
  },
});

function lastSeen(
  { lastTimestamp, firstTimestamp, eventTime, count, series }: EventObject,
  context: CellContext,
): string | Since {
  const first = firstTimestamp ?? eventTime;
  const times = series?.count ?? count ?? 1;
  if (times <= 1) return new Since(lastTimestamp ?? first);
  const { now } = context;
  return `${formatAge(series?.lastObservedTime ?? lastTimestamp, now)} (x${times} over ${formatAge(first, now)})`;
}

const formatSource = (component: string, host: string): string =>
  [component, host].filter((part) => part !== '').join(', ');
