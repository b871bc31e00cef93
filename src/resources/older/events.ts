/** The beta version of events in their own group. */
import type { ObjectOf } from '../../schema/index.ts';
import type { Event as CoreEvent } from '../../types/core-v1.ts';
import * as v1 from '../../types/events-v1.ts';
import { validateEvent } from '../core/events.validation.ts';
import type { OlderKind } from './declare.ts';
import { typesIn } from './types.ts';

const v1beta1 = typesIn('events/v1beta1');

export const events: readonly OlderKind[] = [
  {
    group: 'events.{domain}',
    plural: 'events',
    versions: [
      {
        version: 'v1beta1',
        schema: v1beta1(v1.Event),
        lifecycle: { introduced: '1.8', deprecated: '1.22', removed: '1.25' },
        // As for core/v1 events: a new one needs neither an event time nor a type, and all fields can change.
        strategy: (ofKind) => ({
          ...ofKind,
          validate: (event) => validateEvent(event as unknown as ObjectOf<typeof CoreEvent>, 'reportingController'),
          validateUpdate: () => [],
        }),
      },
    ],
  },
];
