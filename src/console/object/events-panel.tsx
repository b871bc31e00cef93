/** The events about an object, live. */
import { useEffect, useState } from 'preact/hooks';
import type { ApiObject } from '../../meta/index.ts';
import { Panel } from '../parts/panel.tsx';
import { useAllowed } from '../state/access.ts';
import { liveEvents } from '../state/live-events.ts';
import { currentSession } from '../state/session.ts';
import { ageOf } from '../table/rows.ts';
import { t } from '../texts.ts';

interface ClusterEvent extends ApiObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

/** At most this many events are shown, the latest first. */
const maxShown = 50;

export function EventsPanel({ object }: { readonly object: ApiObject }) {
  const { uid = '', namespace = '' } = object.metadata;
  // Events about cluster-scoped objects are in the namespace `default`.
  const place = namespace === '' ? 'default' : namespace;
  const mayList = useAllowed({ verb: 'list', group: '', resource: 'events', namespace: place });
  const events = useEvents(place, uid, mayList);
  const now = Date.now();
  if (!mayList) return null;
  return (
    <Panel title={t('events')} flush={events.length > 0}>
      {events.length === 0 ? (
        <p class="dim">{t('noEvents')}</p>
      ) : (
        <table>
          <tbody>
            {events.slice(0, maxShown).map((event) => (
              <tr key={event.metadata.uid}>
                <td>{ageOf(timeOf(event), now)}</td>
                <td>
                  {event.reason}
                  {(event.count ?? 1) > 1 && ` ×${event.count}`}
                </td>
                <td class="dim">{event.message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

const timeOf = ({ lastTimestamp, eventTime, metadata }: ClusterEvent): number =>
  Date.parse(lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '') || 0;

function useEvents(namespace: string, uid: string, mayList: boolean): readonly ClusterEvent[] {
  const session = currentSession();
  const [events, setEvents] = useState<readonly ClusterEvent[]>([]);
  useEffect(() => {
    if (!mayList) return;
    const stop = new AbortController();
    const known = new Map<string, ClusterEvent>();
    const show = () => setEvents([...known.values()].sort((a, b) => timeOf(b) - timeOf(a)));
    liveEvents<ClusterEvent>({
      session,
      place: { apiVersion: 'v1', resource: 'events', namespace },
      signal: stop.signal,
      representation: 'whole',
      selection: { fieldSelector: `involvedObject.uid=${uid}` },
      onReset: () => known.clear(),
      onPage: ({ items }) => {
        for (const item of items) known.set(item.metadata.uid ?? '', item);
        show();
      },
      onEvent: (type, event) => {
        if (type === 'DELETED') known.delete(event.metadata.uid ?? '');
        else known.set(event.metadata.uid ?? '', event);
        show();
      },
    }).catch(() => {});
    return () => stop.abort();
  }, [session, namespace, uid, mayList]);
  return events;
}
