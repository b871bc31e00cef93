/** The objects that an object refers to, as a table. */
import { useEffect, useState } from 'preact/hooks';
import { metadataOnly } from '../../client/index.ts';
import type { ApiObject } from '../../meta/index.ts';
import { Panel } from '../parts/panel.tsx';
import { isAllowed } from '../state/access.ts';
import { type Kind, kinds } from '../state/discovery.ts';
import { objectAddress } from '../state/route.ts';
import { currentSession, type Session } from '../state/session.ts';
import { t } from '../texts.ts';
import { type Reference, referencesOf, type Selection, selectionsOf } from './references.ts';

/** At most this many objects of a selection are shown. */
const maxSelected = 50;

export function ReferencesPanel({ object }: { readonly object: ApiObject }) {
  const { names } = currentSession();
  const selected = useSelected(object);
  const all = [...referencesOf(object, names), ...selected];
  if (all.length === 0) return null;
  return (
    <Panel title={t('references')} flush>
      <table aria-label={t('references')}>
        <thead>
          <tr>
            <th scope="col">{t('field')}</th>
            <th scope="col">{t('object')}</th>
          </tr>
        </thead>
        <tbody>
          {all.map((reference) => (
            <tr key={JSON.stringify(reference)}>
              <td>
                <code>{reference.field}</code>
              </td>
              <td>
                <Target {...reference} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

/** A link, unless the server does not serve the kind. */
function Target({ group, kind: kindName, name, namespace }: Reference) {
  const kind = preferred(group, kindName);
  const text = `${kindName} ${name}`;
  if (kind === undefined) return <>{text}</>;
  return <a href={objectAddress(kind, kind.namespaced ? namespace : '', name)}>{text}</a>;
}

const preferred = (group: string, name: string): Kind | undefined =>
  kinds.value?.find((kind) => kind.preferred && kind.group === group && kind.kind === name);

/** The objects that the selections of an object select now. */
function useSelected(object: ApiObject): readonly Reference[] {
  const session = currentSession();
  const [found, setFound] = useState<readonly Reference[]>([]);
  const { namespace = '' } = object.metadata;
  const selections = selectionsOf(object, session.names);
  useEffect(() => {
    const stop = new AbortController();
    setFound([]);
    for (const selection of selections) {
      readSelected(session, selection, namespace, stop.signal).then(
        (selected) => !stop.signal.aborted && setFound((before) => [...before, ...selected]),
        () => {},
      );
    }
    return () => stop.abort();
  }, [session, namespace, JSON.stringify(selections)]);
  return found;
}

async function readSelected(
  session: Session,
  { field, group, kind: kindName, labelSelector }: Selection,
  namespace: string,
  signal: AbortSignal,
): Promise<Reference[]> {
  const kind = preferred(group, kindName);
  if (kind === undefined) return [];
  const { apiVersion, resource } = kind;
  const within = namespace === '' ? {} : { namespace };
  if (!(await isAllowed(session, { verb: 'list', group, resource, ...within }))) return [];
  const accept = metadataOnly(session.names).list;
  const { items } = await session.client.list<ApiObject>(
    { apiVersion, resource, ...within },
    { labelSelector, accept, limit: maxSelected, signal },
  );
  return items.map(({ metadata: { name = '' } }) => ({ field, group, kind: kindName, name, namespace }));
}
