/** The bar at the top: namespace, load, preferences, user. */
import { useEffect, useState } from 'preact/hooks';
import type { TypedObject } from '../../client/index.ts';
import { productName } from '../../meta/index.ts';
import { useAllowed } from '../state/access.ts';
import { liveEvents } from '../state/live-events.ts';
import { namespace } from '../state/route.ts';
import { currentSession, type Session, signOut } from '../state/session.ts';
import { t } from '../texts.ts';
import { Preferences } from './preferences.tsx';

export function Header({ session }: { readonly session: Session }) {
  const mayReadMetrics = useAllowed({ verb: 'get', path: '/metrics' });
  return (
    <header class="top">
      <a class="brand" href="#/">
        {productName}
      </a>
      <NamespaceChoice />
      {mayReadMetrics && <a href="#/load">{t('load')}</a>}
      <span class="grow" />
      <Preferences />
      <span class="user" title={`${t('signedInAs', { user: session.user })} (${session.groups.join(', ')})`}>
        {session.user}
      </span>
      <button type="button" class="quiet" onClick={signOut}>
        {t('signOut')}
      </button>
    </header>
  );
}

/** A list of the namespaces for users who may list them; otherwise a field for the name. */
function NamespaceChoice() {
  const mayList = useAllowed({ verb: 'list', group: '', resource: 'namespaces' });
  const names = useNamespaces(mayList);
  const choose = (name: string) => {
    namespace.value = name.trim();
  };
  if (!mayList) return <NamespaceField onChoose={choose} />;
  return (
    <select
      aria-label={t('namespace')}
      value={namespace.value}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
    >
      <option value="">{t('allNamespaces')}</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** The text is that of the user until it is chosen, with Enter or by leaving the field. */
function NamespaceField({ onChoose }: { readonly onChoose: (name: string) => void }) {
  const [typed, setTyped] = useState(namespace.value);
  return (
    <input
      aria-label={t('namespace')}
      placeholder={t('namespace')}
      value={typed}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onChange={() => onChoose(typed)}
    />
  );
}

function useNamespaces(mayList: boolean): readonly string[] {
  const session = currentSession();
  const [names, setNames] = useState<readonly string[]>([]);
  useEffect(() => {
    if (!mayList) return;
    const stop = new AbortController();
    const known = new Set<string>();
    const add = ({ metadata }: TypedObject) => known.add(metadata?.name ?? '');
    const show = () => setNames([...known].sort());
    liveEvents({
      session,
      place: { apiVersion: 'v1', resource: 'namespaces' },
      signal: stop.signal,
      representation: 'metadata',
      onReset: () => known.clear(),
      onPage: ({ items }) => {
        for (const item of items) add(item);
        show();
      },
      onEvent: (type, object) => {
        if (type === 'DELETED') known.delete(object.metadata?.name ?? '');
        else add(object);
        show();
      },
    }).catch(() => {});
    return () => stop.abort();
  }, [session, mayList]);
  return names;
}
