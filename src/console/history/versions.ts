/** The former versions of an object, read in parts. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { readVersions, type Version, type Versions, versionOf } from '../../client/index.ts';
import type { ApiObject } from '../../meta/index.ts';
import { type Kind, placeOf } from '../state/discovery.ts';
import { currentSession } from '../state/session.ts';

/** The number of versions that are read at a time. */
const atATime = 20;

export interface FormerVersions {
  /** Undefined until they are read. */
  readonly found: Versions | undefined;
  readonly error: unknown;
  readonly reading: boolean;
  /** Reads the versions before those that were found. */
  readonly readOlder: () => void;
  /** Reads the versions again, from this one on. */
  readonly readFrom: (newest: ApiObject) => void;
}

export function useVersions(kind: Kind, object: ApiObject): FormerVersions {
  const { client } = currentSession();
  const [state, setState] = useState<Pick<FormerVersions, 'found' | 'error' | 'reading'>>({
    found: undefined,
    error: undefined,
    reading: true,
  });
  const stop = useRef(new AbortController());
  const read = (known: readonly Version[], newest: Version) => {
    stop.current.abort();
    stop.current = new AbortController();
    const { signal } = stop.current;
    setState((before) => ({ ...before, reading: true, error: undefined }));
    readVersions((query) => client.get(placeOf(kind, object), { ...query, signal }), newest, atATime).then(
      ({ versions, end }) =>
        !signal.aborted &&
        setState({ found: { versions: [...known, ...versions], end }, error: undefined, reading: false }),
      (error: unknown) => !signal.aborted && setState((before) => ({ ...before, error, reading: false })),
    );
  };
  const readFrom = (newest: ApiObject) => read([], { version: versionOf(newest), object: newest, deleted: false });
  const readOlder = () => {
    const known = state.found?.versions ?? [];
    const last = known.at(-1);
    if (last !== undefined) read(known.slice(0, -1), last);
  };
  useEffect(() => {
    readFrom(object);
    return () => stop.current.abort();
  }, [client, kind, object.metadata.uid]);
  return { ...state, readOlder, readFrom };
}
