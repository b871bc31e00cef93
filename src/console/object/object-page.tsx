/** One object: its YAML with the owners of its fields, and what belongs to it. */
import { useEffect, useState } from 'preact/hooks';
import { isSecret } from '../../client/index.ts';
import type { ApiObject } from '../../meta/index.ts';
import { EditObject } from '../edit/edit-object.tsx';
import { yamlOf } from '../edit/yaml.ts';
import { YamlView } from '../edit/yaml-view.tsx';
import { ObjectForm } from '../form/object-form.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Lazy } from '../parts/lazy.tsx';
import { actionOn, useAllowed } from '../state/access.ts';
import { type Kind, kindAt, kinds } from '../state/discovery.ts';
import { listAddress } from '../state/route.ts';
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
import { withoutValues } from './secret-values.ts';
import { type ContainerRights, type ObjectRoute, Tabs } from './tabs.tsx';

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
  const may = useContainerRights(kind, namespace, name);
  const [revealed, setRevealed] = useState(false);
  const hidesValues = object !== undefined && isSecret(object) && !revealed;
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
            <Actions
              kind={kind}
              object={object}
              onEdit={() => setEditing(true)}
              {...(hidesValues ? { onReveal: () => setRevealed(true) } : {})}
            />
          )}
        </header>
        {error !== undefined && <ErrorNote error={error} />}
        {deleted && <p class="note warning">{t('deletedObject')}</p>}
        {!deleted && object?.metadata.deletionTimestamp !== undefined && (
          <p class="note warning">{t('beingDeleted')}</p>
        )}
        <Tabs kind={kind} address={address} editing={editing} may={may} />
      </div>
      {object !== undefined && (
        <TabContent
          tab={tab}
          may={may}
          kind={kind}
          object={object}
          hidesValues={hidesValues}
          deleted={deleted}
          editing={editing}
          onEdited={() => setEditing(false)}
        />
      )}
    </article>
  );
}

function useContainerRights(kind: Kind, namespace: string, name: string): ContainerRights {
  const on = (verb: string, subresource: string) =>
    kind.subresources.includes(subresource)
      ? { ...actionOn(verb, kind, { metadata: { namespace, name } }), subresource }
      : undefined;
  return { readLogs: useAllowed(on('get', 'log')), runCommands: useAllowed(on('create', 'exec')) };
}

interface ObjectPartsProps {
  readonly kind: Kind;
  readonly object: ApiObject;
  /** Whether the values of a secret are not shown, unless it is edited. */
  readonly hidesValues: boolean;
  readonly deleted: boolean;
  readonly editing: boolean;
  readonly onEdited: () => void;
}

interface TabContentProps extends ObjectPartsProps {
  readonly tab: string;
  readonly may: ContainerRights;
}

function TabContent({ tab, may, ...parts }: TabContentProps) {
  if (tab === 'logs' && may.readLogs) return <Logs pod={parts.object} />;
  if (tab === 'terminal' && may.runCommands) return <Lazy load={terminalTab} props={{ pod: parts.object }} />;
  if (tab === 'history') return <Lazy load={historyTab} props={parts} />;
  if (tab === 'graph') return <Lazy load={graphTab} props={parts} />;
  return <ObjectParts {...parts} asForm={tab === 'form'} />;
}

const graphTab = async () => (await import('../graph/graph-tab.tsx')).GraphTab;
const historyTab = async () => (await import('../history/history-tab.tsx')).HistoryTab;
const terminalTab = async () => (await import('../terminal/terminal-tab.tsx')).TerminalTab;

function ObjectParts({ kind, object, hidesValues, editing, asForm, onEdited }: ObjectPartsProps & { asForm: boolean }) {
  const [path, setPath] = useState<FieldPath>([]);
  const schema = useSchema(kind);
  const { owners, guide } = useGuide(object, schema);
  const { name = '' } = object.metadata;
  const [, shown] = hidesValues ? withoutValues(undefined, object) : [undefined, object];
  return (
    <>
      <div class="text">
        {editing ? (
          <EditObject kind={kind} object={object} schema={schema} asForm={asForm} onField={setPath} onDone={onEdited} />
        ) : asForm ? (
          <ObjectForm object={shown} schema={schema} onField={setPath} />
        ) : (
          <YamlView
            label={t('yamlOf', { name })}
            text={yamlOf(shown)}
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
