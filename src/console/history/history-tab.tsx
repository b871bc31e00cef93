/** The history of an object: its versions, a comparison of two of them, and the way back to one. */
import { useState } from 'preact/hooks';
import type { VersionEntry } from '../../client/index.ts';
import { type ApiObject, isStatus } from '../../meta/index.ts';
import { Review } from '../edit/review.tsx';
import { restoreVersion } from '../edit/save.ts';
import { ErrorNote } from '../parts/error-note.tsx';
import { Panel } from '../parts/panel.tsx';
import { actionOn, useAllowed } from '../state/access.ts';
import type { Kind } from '../state/discovery.ts';
import { currentSession } from '../state/session.ts';
import { t } from '../texts.ts';
import { VersionList } from './version-list.tsx';
import { useVersions } from './versions.ts';

export interface HistoryTabProps {
  readonly kind: Kind;
  /** The latest state of the object. */
  readonly object: ApiObject;
  /** Whether the values of a secret are not shown. */
  readonly hidesValues: boolean;
  /** A deleted object cannot go back to a version. */
  readonly deleted: boolean;
}

/** A version to go back to, and the object as it was when the user chose it: a later write is a conflict. */
interface Restoration {
  readonly entry: VersionEntry;
  readonly current: ApiObject;
}

export function HistoryTab({ kind, object, hidesValues, deleted }: HistoryTabProps) {
  const session = currentSession();
  const history = useVersions(kind, object);
  const canUpdate = kind.verbs.includes('update') && !deleted;
  const mayUpdate = useAllowed(canUpdate ? actionOn('update', kind, object) : undefined);
  const [restoration, setRestoration] = useState<Restoration>();
  if (isStatus(history.error, 501)) return <HistoryOff />;
  if (restoration === undefined) {
    const restore = (entry: VersionEntry) => setRestoration({ entry, current: object });
    return (
      <div class="wide" data-testid="history">
        {history.error !== undefined && <ErrorNote error={history.error} />}
        <VersionList
          history={history}
          object={object}
          hidesValues={hidesValues}
          {...(mayUpdate ? { onRestore: restore } : {})}
        />
      </div>
    );
  }
  const { entry, current } = restoration;
  return (
    <div class="text wide">
      <p class="note">{t('restoreHint', { version: entry.version })}</p>
      <Review
        before={current}
        removals={[]}
        hidesValues={hidesValues}
        save={(_, dryRun) => restoreVersion(session, kind, { former: entry.object, current, dryRun })}
        onSaved={({ object: saved }) => {
          setRestoration(undefined);
          history.readFrom(saved);
        }}
        onBack={() => setRestoration(undefined)}
      />
    </div>
  );
}

const HistoryOff = () => (
  <div class="wide">
    <Panel title={t('history')}>
      <p>
        {t('historyOff')} <code>--object-history</code>
      </p>
      <p class="dim">{t('historyOffHint')}</p>
    </Panel>
  </div>
);
