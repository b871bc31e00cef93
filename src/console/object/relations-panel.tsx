/** The owners of an object, and the tree of its dependents on demand. */
import { useEffect, useState } from 'preact/hooks';
import type { ApiObject } from '../../meta/index.ts';
import { Panel } from '../parts/panel.tsx';
import { kindOf } from '../state/discovery.ts';
import { objectAddress } from '../state/route.ts';
import { currentSession } from '../state/session.ts';
import { t } from '../texts.ts';
import { type Dependent, findDependents } from './relations.ts';

export function RelationsPanel({ object }: { readonly object: ApiObject }) {
  const { ownerReferences = [] } = object.metadata;
  return (
    <>
      <Panel title={t('owners')}>
        {ownerReferences.length === 0 && <p class="dim">{t('noOwners')}</p>}
        <ul>
          {ownerReferences.map((owner) => (
            <li key={owner.uid}>
              <OwnerLink {...owner} namespace={object.metadata.namespace ?? ''} />
            </li>
          ))}
        </ul>
      </Panel>
      <Panel title={t('dependents')}>
        <Dependents key={object.metadata.uid} owner={object} />
      </Panel>
    </>
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

/** Searches for the dependents of an object when asked to, or at once. */
export function Dependents({ owner, atOnce = false }: { readonly owner: ApiObject; readonly atOnce?: boolean }) {
  const session = currentSession();
  const [asked, setAsked] = useState(atOnce);
  const [progress, setProgress] = useState('');
  const [found, setFound] = useState<readonly Dependent[]>();
  // An object that changes keeps its dependents.
  useEffect(() => {
    if (!asked) return;
    const stop = new AbortController();
    const onProgress = (done: number, all: number) => setProgress(t('searching', { done, all }));
    void findDependents(session, owner, { signal: stop.signal, onProgress }).then(setFound);
    return () => stop.abort();
  }, [session, owner.metadata.uid, asked]);
  if (!asked) {
    return (
      <button type="button" onClick={() => setAsked(true)}>
        {t('findDependents')}
      </button>
    );
  }
  if (found === undefined) return <p class="dim">{progress}</p>;
  if (found.length === 0) return <p class="dim">{t('noDependents')}</p>;
  return <DependentList dependents={found} />;
}

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
