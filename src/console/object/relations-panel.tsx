/** The owners of an object, and the tree of its dependents on demand. */
import { useEffect, useState } from 'preact/hooks';
import type { ApiObject } from '../../meta/index.ts';
import { Panel } from '../parts/panel.tsx';
import { kindOf } from '../state/discovery.ts';
import { objectAddress } from '../state/route.ts';
import { currentSession } from '../state/session.ts';
import { t } from '../texts.ts';
import { type Dependent, findDependents } from './relations.ts';

export const RelationsPanel = ({ object }: { readonly object: ApiObject }) => (
  <>
    <Owners object={object} />
    <Panel title={t('dependents')}>
      <Dependents key={object.metadata.uid} owner={object} />
    </Panel>
  </>
);

export interface RelationsTextProps {
  readonly object: ApiObject;
  readonly dependents: readonly Dependent[];
}

/** The owners of an object, and its dependents that were found. */
export const RelationsText = ({ object, dependents }: RelationsTextProps) => (
  <>
    <Owners object={object} />
    <Panel title={t('dependents')}>
      <DependentTree dependents={dependents} />
    </Panel>
  </>
);

function Owners({ object }: { readonly object: ApiObject }) {
  const { ownerReferences = [], namespace = '' } = object.metadata;
  return (
    <Panel title={t('owners')}>
      {ownerReferences.length === 0 && <p class="dim">{t('noOwners')}</p>}
      <ul>
        {ownerReferences.map((owner) => (
          <li key={owner.uid}>
            <OwnerLink {...owner} namespace={namespace} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

interface OwnerLinkProps {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

function OwnerLink({ apiVersion, kind: kindName, name, namespace }: OwnerLinkProps) {
  const kind = kindOf(apiVersion, kindName);
  const text = `${kindName} ${name}`;
  if (kind === undefined) return <>{text}</>;
  return <a href={objectAddress(kind, kind.namespaced ? namespace : '', name)}>{text}</a>;
}

/** The dependents of an object: undefined until they are found, and as long as nobody has asked for them. */
export function useDependents(owner: ApiObject, asked: boolean) {
  const session = currentSession();
  const [progress, setProgress] = useState('');
  const [found, setFound] = useState<readonly Dependent[]>();
  // An object that changes keeps its dependents.
  useEffect(() => {
    if (!asked) return;
    const stop = new AbortController();
    const { signal } = stop;
    const onProgress = (done: number, all: number) => setProgress(t('searching', { done, all }));
    void findDependents(session, owner, { signal, onProgress }).then((tree) => !signal.aborted && setFound(tree));
    return () => stop.abort();
  }, [session, owner.metadata.uid, asked]);
  return { found, progress };
}

/** Searches for the dependents of an object when asked to, or at once. */
export function Dependents({ owner, atOnce = false }: { readonly owner: ApiObject; readonly atOnce?: boolean }) {
  const [asked, setAsked] = useState(atOnce);
  const { found, progress } = useDependents(owner, asked);
  if (!asked) {
    return (
      <button type="button" onClick={() => setAsked(true)}>
        {t('findDependents')}
      </button>
    );
  }
  return found === undefined ? <p class="dim">{progress}</p> : <DependentTree dependents={found} />;
}

const DependentTree = ({ dependents }: { readonly dependents: readonly Dependent[] }) =>
  dependents.length === 0 ? <p class="dim">{t('noDependents')}</p> : <DependentList dependents={dependents} />;

const DependentList = ({ dependents }: { readonly dependents: readonly Dependent[] }) => (
  <ul class="tree">
    {dependents.map(({ kind, namespace, name, uid, dependents: below }) => (
      <li key={uid}>
        <a href={objectAddress(kind, namespace, name)}>
          {kind.kind} {name}
        </a>
        {below.length > 0 && <DependentList dependents={below} />}
      </li>
    ))}
  </ul>
);
