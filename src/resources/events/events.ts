import { type ApiObject, getKey } from '../../meta/index.ts';
import type { ResourceDefinition } from '../../registry/index.ts';
import { Event as CoreEvent } from '../../types/core-v1.ts';
import { Event } from '../../types/events-v1.ts';
import { events as coreEvents } from '../core/events.ts';
import { validateEvent, validateNewEvent, validateReportImmutable, validateSeries } from '../core/events.validation.ts';
import { resource } from '../shared/define.ts';
import { isNew, same } from '../shared/field-rules.ts';

/** Field name in events.v1 → field name in core/v1, the storage version. */
const toCore: { readonly [name: string]: string } = {
  regarding: 'involvedObject',
  note: 'message',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
};
const fromCore = Object.fromEntries(Object.entries(toCore).map(([here, core]) => [core, here]));

/** The strategy works on the stored core/v1 form, whose field names its errors use. */
const { strategy } = resource({
  group: '',
  plural: 'events',
  kind: 'Event',
  schema: CoreEvent,
  lifecycle: { introduced: '1.0' },
  strategy: {
    metadataChecks: [0, 1],
    ttlSeconds: 3600,
    garbageCollectionPolicy: 'Unsupported',
    createOnUpdate: true,
    validate: (event) => [
      ...validateEvent(event, 'reportingController'),
      ...(isNew(event) ? validateNewEvent(event) : []),
    ],
    validateUpdate: (event, old) => [
      ...(same(event.series, old.series) ? [] : validateSeries(event)),
      ...validateReportImmutable(event, old),
    ],
  },
});

/** Events of events.v1: the same stored objects as core/v1 events, with other field names. */
export const events: ResourceDefinition = {
  ...coreEvents,
  group: 'events.{domain}',
  strategy,
  versions: [
    {
      version: 'v1',
      schema: Event,
      lifecycle: { introduced: '1.19' },
      toStorage: (object) => rename(object, 'v1', toCore),
      fromStorage: (object, names) => rename(object, `events.${names.domain}/v1`, fromCore),
    },
  ],
  selectableFields: coreEvents.selectableFields
    .filter(({ path }) => path !== 'source')
    .map((field) => {
      const [head = '', ...rest] = field.path.split('.');
      return { ...field, path: [getKey(fromCore, head) ?? head, ...rest].join('.') };
    }),
};

function rename(object: ApiObject, apiVersion: string, to: { readonly [name: string]: string }): ApiObject {
  const entries = Object.entries(object).map(([key, value]) => [getKey(to, key) ?? key, value] as const);
  return { ...(Object.fromEntries(entries) as ApiObject), apiVersion };
}
