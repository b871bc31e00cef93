/** The owners of an object, and the tree of its dependents on demand. */
import { useEffect, useState } from 'preact/hooks';
import type { ApiObject } from '../../meta/index.ts';
import { Panel } from '../parts/panel.tsx';
import { kindOf } from '../state/discovery.ts';
import { objectAddress } from '../state/route.ts';
import { currentSession } from '../state/session.ts';
import { t } from '../texts.ts';
import { type Dependent, type FoundDependents, findDependents } from './relations.ts';

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
  readonly found: FoundDependents;
}

/** The owners of an object, and its dependents that were found. */
export const RelationsText = ({ object, found }: RelationsTextProps) => (
  <>
    <Owners object={object} />
    <Panel title={t('dependents')}>
      <DependentTree {...found} />
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

/** Searches for the dependents of an object while `enabled`. `found` is undefined until the search ends. */
export function useDependents(owner: ApiObject, enabled: boolean) {
  const session = currentSession();
  const [progress, setProgress] = useState('');
  const [found, setFound] = useState<FoundDependents>();
  // An object that changes keeps its dependents.
  useEffect(() => {
    if (!enabled) return;
    const stop = new AbortController();
    const { signal } = stop;
    const onProgress = (done: number, all: number) => setProgress(t('searching', { done, all }));
    void findDependents(session, owner, { signal, onProgress }).then((result) => !signal.aborted && setFound(result));
    return () => stop.abort();
  }, [session, owner.metadata.uid, enabled]);
  return { found, progress };
}

/** Searches for the dependents of an object when asked to, or at once. */
export function Dependents({ owner, atOnce = false }: { readonly owner: ApiObject; readonly atOnce?: boolean }) {
  const [searches, setSearches] = useState(atOnce);
  const { found, progress } = useDependents(owner, searches);
  if (!searches) {
    return (
      <button type="button" onClick={() => setSearches(true)}>
        {t('findDependents')}
      </button>
    );
  }
  return found === undefined ? <p class="dim">{progress}</p> : <DependentTree {...found} />;
}

/** At most this many kinds are named. */
const maxNamed = 10;

const DependentTree = ({ tree, unsearched, isCut }: FoundDependents) => (
  <>
    {tree.length === 0 ? <p class="dim">{t('noDependents')}</p> : <DependentList dependents={tree} />}
    {isCut && <p class="dim">{t('moreDependents')}</p>}
    {unsearched.length > 0 && (
      <p class="dim">
        {t('notSearched', {
          count: unsearched.length,
          kinds: `${unsearched
            .slice(0, maxNamed)
            .map(({ kind }) => kind)
            .join(', ')}${unsearched.length > maxNamed ? '…' : ''}`,
        })}
      </p>
    )}
  </>
);

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
