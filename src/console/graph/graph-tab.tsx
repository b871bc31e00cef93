/** The owners and the dependents of an object as a drawing and as text, and the objects that it refers to. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { readinessOf } from '../../client/index.ts';
import type { ApiObject } from '../../meta/index.ts';
import { ReferencesPanel } from '../object/references-panel.tsx';
import { findOwners, type Related, relatedTo } from '../object/relations.ts';
import { RelationsText, useDependents } from '../object/relations-panel.tsx';
import { type Kind, placeOf } from '../state/discovery.ts';
import { currentSession } from '../state/session.ts';
import { t } from '../texts.ts';
import { Drawing } from './drawing.tsx';
import { type GraphNode, layoutOf } from './layout.ts';

export interface GraphTabProps {
  readonly kind: Kind;
  readonly object: ApiObject;
}

const textId = 'relations-text';

export function GraphTab({ kind, object }: GraphTabProps) {
  const owners = useOwners(object);
  const { found, progress } = useDependents(object, true);
  const graph = useMemo(
    () => owners && found && layoutOf(relatedTo(kind, object), owners, found.tree),
    [kind, object.metadata.uid, owners, found],
  );
  const readiness = useReadiness(graph?.nodes);
  const known = new Map(readiness).set(object.metadata.uid ?? '', readinessOf(object));
  return (
    <div class="wide">
      {graph === undefined ? (
        <p class="dim">{progress}</p>
      ) : (
        <div class="scroller drawing">
          <Drawing graph={graph} readiness={known} describedBy={textId} />
        </div>
      )}
      {graph !== undefined && graph.omitted > 0 && <p class="dim">{t('notDrawn', { count: graph.omitted })}</p>}
      <ReferencesPanel object={object} />
      {found !== undefined && (
        <div id={textId}>
          <RelationsText object={object} found={found} />
        </div>
      )}
    </div>
  );
}

function useOwners(object: ApiObject): readonly (readonly Related[])[] | undefined {
  const session = currentSession();
  const [owners, setOwners] = useState<readonly (readonly Related[])[]>();
  useEffect(() => {
    const stop = new AbortController();
    void findOwners(session, object, stop.signal).then((found) => !stop.signal.aborted && setOwners(found));
    return () => stop.abort();
  }, [session, object.metadata.uid]);
  return owners;
}

/** The number of objects that are read at the same time. */
const parallel = 8;

/** The readiness of objects by their UID, read once. Objects that the user may not read have none. */
function useReadiness(nodes: readonly GraphNode[] | undefined): ReadonlyMap<string, string> {
  const { client } = currentSession();
  const [known, setKnown] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    if (nodes === undefined) return;
    const stop = new AbortController();
    const { signal } = stop;
    const waiting = nodes.values();
    const readNext = async () => {
      for (const { kind, namespace, name, uid } of waiting) {
        const metadata = { name, ...(namespace === '' ? {} : { namespace }) };
        const object = await client.get(placeOf(kind, { metadata }), { signal }).catch(() => undefined);
        if (signal.aborted) return;
        if (object !== undefined) setKnown((before) => new Map(before).set(uid, readinessOf(object)));
      }
    };
    for (let reader = 0; reader < parallel; reader++) void readNext();
    return () => stop.abort();
  }, [client, nodes]);
  return known;
}
