/** One object: its YAML with the owners of its fields, and what belongs to it. */
import { useEffect, useState } from 'preact/hooks';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import { EditObject } from '../edit/edit-object.tsx';
import { yamlOf } from '../edit/yaml.ts';
import { YamlView } from '../edit/yaml-view.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Lazy } from '../parts/lazy.tsx';
import { useAllowed } from '../state/access.ts';
import { type Kind, kindAt, kinds } from '../state/discovery.ts';
import { listAddress, objectAddress, type Route } from '../state/route.ts';
import { LiveStatusNote } from '../table/live-status-note.tsx';
import { t } from '../texts.ts';
import { Logs } from '../workloads/logs.tsx';
import { RolloutPanel } from '../workloads/rollout-panel.tsx';
import { Actions } from './actions.tsx';
import { ConditionsPanel } from './conditions-panel.tsx';
import { EventsPanel } from './events-panel.tsx';
import { FieldPanel } from './field-panel.tsx';
import { useGuide, useSchema } from './guide.ts';
import { useLiveObject } from './live-object.ts';
import type { FieldPath } from './paths.ts';
import { RelationsPanel } from './relations-panel.tsx';

type ObjectRoute = Extract<Route, { view: 'object' }>;

export function ObjectPage({ address }: { readonly address: ObjectRoute }) {
  const kind = kindAt(address);
  if (kind === undefined) return <p>{kinds.value === undefined ? t('loading') : t('kindNotServed')}</p>;
  const { namespace, name } = address;
  return (
    <ObjectOfKind key={`${kind.apiVersion}/${kind.resource}/${namespace}/${name}`} kind={kind} address={address} />
  );
}

function ObjectOfKind({ kind, address }: { readonly kind: Kind; readonly address: ObjectRoute }) {
  const { namespace, name, tab } = address;
  const { object, deleted, status, error } = useLiveObject(kind, namespace, name);
  const [editing, setEditing] = useState(false);
  const { group, resource } = kind;
  const mayExec = useAllowed({ verb: 'create', group, resource, subresource: 'exec', namespace, name });
  useEffect(() => {
    if (deleted) setEditing(false);
  }, [deleted]);
  return (
    <article class="object">
      <div class="top-part">
        <header class="bar">
          <a href={listAddress(kind)}>{kind.kind}</a>
          <h1>{name}</h1>
          {namespace !== '' && <span class="dim">{namespace}</span>}
          <LiveStatusNote status={status} />
          {object !== undefined && !deleted && !editing && (
            <Actions kind={kind} object={object} onEdit={() => setEditing(true)} />
          )}
        </header>
        {error !== undefined && <ErrorNote error={error} />}
        {deleted && <p class="note warning">{t('deletedObject')}</p>}
        {!deleted && object?.metadata.deletionTimestamp !== undefined && (
          <p class="note warning">{t('beingDeleted')}</p>
        )}
        {kind.subresources.includes('log') && <Tabs kind={kind} address={address} mayExec={mayExec} />}
      </div>
      {object !== undefined && tab === 'logs' && <Logs pod={object} />}
      {object !== undefined && tab === 'terminal' && mayExec && <Lazy load={terminalTab} props={{ pod: object }} />}
      {object !== undefined && tab !== 'logs' && !(tab === 'terminal' && mayExec) && (
        <ObjectParts kind={kind} object={object} editing={editing} onEdited={() => setEditing(false)} />
      )}
    </article>
  );
}

const terminalTab = async () => (await import('../terminal/terminal-tab.tsx')).TerminalTab;

interface TabsProps {
  readonly kind: Kind;
  readonly address: ObjectRoute;
  /** Whether the user may run commands in the containers. */
  readonly mayExec: boolean;
}

function Tabs({ kind, address: { namespace, name, tab }, mayExec }: TabsProps) {
  const current = (of: string) => (tab === of ? { 'aria-current': 'page' as const } : {});
  return (
    <nav class="tabs" aria-label={name}>
      <a href={objectAddress(kind, namespace, name)} {...current('')}>
        {t('yaml')}
      </a>
      <a href={objectAddress(kind, namespace, name, 'logs')} {...current('logs')}>
        {t('logs')}
      </a>
      {mayExec && (
        <a href={objectAddress(kind, namespace, name, 'terminal')} {...current('terminal')}>
          {t('terminal')}
        </a>
      )}
    </nav>
  );
}

interface ObjectPartsProps {
  readonly kind: Kind;
  readonly object: ApiObject & JsonObject;
  readonly editing: boolean;
  readonly onEdited: () => void;
}

function ObjectParts({ kind, object, editing, onEdited }: ObjectPartsProps) {
  const [path, setPath] = useState<FieldPath>([]);
  const schema = useSchema(kind);
  const { owners, guide } = useGuide(object, schema);
  const { name = '' } = object.metadata;
  return (
    <>
      <div class="text">
        {editing ? (
          <EditObject kind={kind} object={object} schema={schema} onField={setPath} onDone={onEdited} />
        ) : (
          <YamlView
            label={t('yamlOf', { name })}
            text={yamlOf(object)}
            editable={false}
            guide={guide}
            onField={setPath}
          />
        )}
      </div>
      <div class="aside">
        <RolloutPanel object={object} />
        <FieldPanel path={path} owners={owners} schema={schema} />
        <ConditionsPanel object={object} />
        <RelationsPanel object={object} />
        <EventsPanel object={object} />
      </div>
    </>
  );
}
