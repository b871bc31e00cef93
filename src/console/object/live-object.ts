/** One object, live. */
import { useEffect, useState } from 'preact/hooks';
import type { ApiObject } from '../../meta/index.ts';
import type { Kind } from '../state/discovery.ts';
import { isRefused, type LiveStatus, liveEvents } from '../state/live-events.ts';
import { currentSession } from '../state/session.ts';

export interface LiveObject {
  /** Undefined: not read yet, or never there. */
  readonly object: ApiObject | undefined;
  readonly deleted: boolean;
  readonly status: LiveStatus | 'failed';
  /** Why the server refuses the object. */
  readonly error: unknown;
}

const unread: LiveObject = { object: undefined, deleted: false, status: 'loading', error: undefined };

/** Follows an object. Users who may read but not watch it see it as it was when they came. */
export function useLiveObject(kind: Kind, namespace: string, name: string): LiveObject {
  const session = currentSession();
  const [state, setState] = useState(unread);
  const { apiVersion, resource, kind: kindName } = kind;
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const update = (change: Partial<LiveObject>) => {
      if (!signal.aborted) setState((before) => ({ ...before, ...change }));
    };
    setState(unread);
    const place = { apiVersion, resource, ...(namespace === '' ? {} : { namespace }) };
    // The items of a list do not name their kind.
    const show = (object: ApiObject) =>
      update({ object: { ...object, apiVersion, kind: kindName } as ApiObject, deleted: false });
    const read = async () => {
      try {
        show(await session.client.get({ ...place, name }, { signal }));
      } catch (error) {
        // A server that cannot be reached is tried again below.
        if (isRefused(error)) throw error;
      }
      await liveEvents<ApiObject>({
        session,
        place,
        signal,
        representation: 'whole',
        selection: { fieldSelector: `metadata.name=${name}` },
        onPage: ({ items: [item] }) => (item === undefined ? update({ deleted: true }) : show(item)),
        onEvent: (type, object) => (type === 'DELETED' ? update({ deleted: true }) : show(object)),
        onStatus: (status) => update({ status }),
      });
    };
    read().catch((error: unknown) => update({ error, status: 'failed' }));
    return () => stop.abort();
  }, [session, apiVersion, kindName, resource, namespace, name]);
  return state;
}
