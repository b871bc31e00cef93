/** The menu of kinds by group: those that the user may list. */
import { useEffect, useState } from 'preact/hooks';
import { type MayList, readRules } from '../state/access.ts';
import { type Kind, kinds } from '../state/discovery.ts';
import { listAddress, namespace, route } from '../state/route.ts';
import type { Session } from '../state/session.ts';
import { t } from '../texts.ts';

export function Menu({ session }: { readonly session: Session }) {
  const [text, setText] = useState('');
  const [open, setOpen] = useState(false);
  const mayList = useMayList(session);
  const shown = (kinds.value ?? []).filter(
    ({ preferred, verbs, ...kind }) =>
      preferred && verbs.includes('list') && mayList?.(kind) === true && matches(kind, text),
  );
  return (
    <nav class={open ? 'menu open' : 'menu'} aria-label={t('kinds')}>
      <button type="button" class="menu-button" aria-expanded={open} onClick={() => setOpen(!open)}>
        ☰ {t('menu')}
      </button>
      <div class="menu-body">
        <input
          type="search"
          aria-label={t('filterKinds')}
          placeholder={t('filterKinds')}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        {kinds.value !== undefined && mayList !== undefined && shown.length === 0 && text === '' && (
          <p class="dim">{t('nothingAllowed')}</p>
        )}
        {[...byGroup(shown)].map(([group, members]) => (
          <Group key={group} group={group} members={members} onChoose={() => setOpen(false)} />
        ))}
      </div>
    </nav>
  );
}

interface GroupProps {
  readonly group: string;
  readonly members: readonly Kind[];
  readonly onChoose: () => void;
}

function Group({ group, members, onChoose }: GroupProps) {
  const shown = route.value;
  const isShown = (kind: Kind) =>
    'resource' in shown && shown.apiVersion === kind.apiVersion && shown.resource === kind.resource;
  return (
    <section>
      <h2>{group === '' ? t('coreGroup') : group}</h2>
      <ul>
        {members.map((kind) => (
          <li key={kind.resource}>
            <a
              href={listAddress(kind)}
              {...(isShown(kind) ? { 'aria-current': 'page' as const } : {})}
              onClick={onChoose}
            >
              {kind.kind}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The kinds that the user may list in the chosen namespace; undefined until it is known. */
function useMayList(session: Session): MayList | undefined {
  const [mayList, setMayList] = useState<MayList>();
  const inNamespace = namespace.value;
  useEffect(() => {
    let current = true;
    const show = (answer: MayList) => {
      if (current) setMayList(() => answer);
    };
    // Where the rules cannot be read, each list tells whether it is allowed.
    readRules(session, inNamespace).then(show, () => show(() => true));
    return () => {
      current = false;
    };
  }, [session, inNamespace]);
  return mayList;
}

function matches({ kind, resource, group }: Pick<Kind, 'kind' | 'resource' | 'group'>, text: string): boolean {
  return `${kind} ${resource} ${group}`.toLowerCase().includes(text.trim().toLowerCase());
}

function byGroup(members: readonly Kind[]): Map<string, Kind[]> {
  const groups = new Map<string, Kind[]>();
  for (const kind of members) groups.set(kind.group, [...(groups.get(kind.group) ?? []), kind]);
  return groups;
}
