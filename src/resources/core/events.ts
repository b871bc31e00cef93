import { pathSegmentName } from '../../meta/index.ts';
import { AgeCell } from '../../registry/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { Event } from '../../types/core-v1.ts';
import { name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { validateEvent } from './events.validation.ts';

type EventObject = ObjectOf<typeof Event>;

const lastSeen = ({ lastTimestamp, firstTimestamp, eventTime, series }: EventObject): AgeCell =>
  new AgeCell(series === undefined ? (lastTimestamp ?? firstTimestamp ?? eventTime) : series.lastObservedTime);

export const events = resource({
  group: '',
  plural: 'events',
  kind: 'Event',
  schema: Event,
  lifecycle: { introduced: '1.0' },
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
        formatSource(source?.component || reportingComponent, source?.host || reportingInstance),
      'wide',
    ],
    ['Message', ({ message = '' }) => message.trim()],
    ['First Seen', ({ firstTimestamp, eventTime }) => new AgeCell(firstTimestamp ?? eventTime), 'wide'],
    ['Count', ({ count, series }) => (series === undefined ? count || 1 : (series.count ?? 0)), 'wide'],
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
    metadataChecks: [0, 0],
    // Event names are only restricted to what is valid in a path.
    nameRule: pathSegmentName,
    ttlSeconds: 3600,
    garbageCollectionPolicy: 'Unsupported',
    createOnUpdate: true,
    validate: (event) => validateEvent(event, 'reportingComponent'),
  },
});

const formatSource = (component: string, host: string): string => (host === '' ? component : `${component}, ${host}`);
