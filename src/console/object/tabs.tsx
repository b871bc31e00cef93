/** The views of an object, each with an address of its own. */
import type { Kind } from '../state/discovery.ts';
import { objectAddress, type Route } from '../state/route.ts';
import { type TextKey, t } from '../texts.ts';

export type ObjectRoute = Extract<Route, { view: 'object' }>;

/** The user's rights to the containers of an object. */
export interface ContainerRights {
  readonly readLogs: boolean;
  readonly runCommands: boolean;
}

interface Tab {
  /** Its name in the address. */
  readonly name: string;
  readonly text: TextKey;
  /** Whether an object of a kind has the tab for a user with these rights. */
  readonly isOf: (kind: Kind, may: ContainerRights) => boolean;
  /** Whether the tab shows the draft while the object is edited. */
  readonly edits?: boolean;
}

const tabs: readonly Tab[] = [
  { name: '', text: 'yaml', isOf: () => true, edits: true },
  { name: 'form', text: 'form', isOf: ({ verbs }) => verbs.includes('update'), edits: true },
  // Kinds that cannot be watched are not stored.
  { name: 'history', text: 'history', isOf: ({ verbs }) => verbs.includes('watch') },
  { name: 'graph', text: 'graph', isOf: ({ verbs }) => verbs.includes('watch') },
  { name: 'logs', text: 'logs', isOf: (_, { readLogs }) => readLogs },
  { name: 'terminal', text: 'terminal', isOf: (_, { runCommands }) => runCommands },
];

export interface TabsProps {
  readonly kind: Kind;
  readonly address: ObjectRoute;
  /** A draft is lost when another tab is shown than those that edit it. */
  readonly editing: boolean;
  readonly may: ContainerRights;
}

export function Tabs({ kind, address, editing, may }: TabsProps) {
  const { namespace, name, tab } = address;
  return (
    <nav class="tabs" aria-label={name}>
      {tabs
        .filter(({ isOf, edits = false }) => isOf(kind, may) && (edits || !editing))
        .map((one) => (
          <a
            key={one.name}
            href={objectAddress(kind, namespace, name, one.name)}
            {...(tab === one.name ? { 'aria-current': 'page' as const } : {})}
          >
            {t(one.text)}
          </a>
        ))}
    </nav>
  );
}
