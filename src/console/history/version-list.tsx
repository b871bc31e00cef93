/** The versions of an object as a table in which two of them are chosen, and their comparison. */
import { useState } from 'preact/hooks';
import { changesText, type VersionEntry, versionEntries, versionOf } from '../../client/index.ts';
import { type ApiObject, formatAge } from '../../meta/index.ts';
import { type TextKey, t } from '../texts.ts';
import { VersionComparison } from './version-comparison.tsx';
import type { FormerVersions } from './versions.ts';

export interface VersionListProps {
  readonly history: FormerVersions;
  /** The latest state of the object. */
  readonly object: ApiObject;
  readonly hidesValues: boolean;
  /** Absent: the user may not restore versions. */
  readonly onRestore?: (entry: VersionEntry) => void;
}

/** The resourceVersions that are compared. */
interface Pair {
  readonly before: number;
  readonly after: number;
}

export function VersionList({ history, object, hidesValues, onRestore }: VersionListProps) {
  const { found, reading, readOlder, readFrom } = history;
  const [chosen, setChosen] = useState<Pair>();
  if (found === undefined) return reading ? <p class="dim">{t('loading')}</p> : null;
  const entries = versionEntries(found);
  const [newest, previous] = entries;
  if (newest === undefined) return null;
  const entryOf = (version: number | undefined) => entries.find((entry) => entry.version === version);
  const after = entryOf(chosen?.after) ?? newest;
  const before = entryOf(chosen?.before) ?? previous ?? newest;
  const pair = { before: before.version, after: after.version };
  return (
    <>
      {versionOf(object) !== newest.version && (
        <p class="note row">
          {t('newerVersions')}
          <button type="button" disabled={reading} onClick={() => readFrom(object)}>
            {t('showThem')}
          </button>
        </p>
      )}
      <div class="scroller versions">
        <table aria-label={t('history')}>
          <Head />
          <tbody>
            {entries.map((entry) => (
              <VersionRow
                key={entry.version}
                entry={entry}
                pair={pair}
                hidesValues={hidesValues}
                onChoose={setChosen}
                {...(onRestore === undefined || entry === newest ? {} : { onRestore })}
              />
            ))}
          </tbody>
        </table>
      </div>
      {found.end === 'limit' ? (
        <button type="button" disabled={reading} onClick={readOlder}>
          {t('olderVersions')}
        </button>
      ) : (
        found.end === 'compacted' && <p class="dim">{t('compacted')}</p>
      )}
      {before !== after && <VersionComparison before={before} after={after} hidesValues={hidesValues} />}
    </>
  );
}

const columns = ['before', 'after', 'version', 'written', 'manager', 'operation', 'changes'] as const;

const Head = () => (
  <thead>
    <tr>
      {columns.map((column) => (
        <th key={column} scope="col">
          {t(column)}
        </th>
      ))}
      <th scope="col">
        <span class="unseen">{t('restore')}</span>
      </th>
    </tr>
  </thead>
);

interface VersionRowProps extends Pick<VersionListProps, 'hidesValues' | 'onRestore'> {
  readonly entry: VersionEntry;
  readonly pair: Pair;
  readonly onChoose: (pair: Pair) => void;
}

function VersionRow({ entry, pair, hidesValues, onChoose, onRestore }: VersionRowProps) {
  const { version, time, manager, operation, changes } = entry;
  const side = (name: keyof Pair, text: TextKey) => (
    <td>
      <input
        type="radio"
        name={name}
        aria-label={t(text, { version })}
        checked={pair[name] === version}
        onChange={() => onChoose({ ...pair, [name]: version })}
      />
    </td>
  );
  return (
    <tr>
      {side('before', 'compareFrom')}
      {side('after', 'compareTo')}
      <td>{version}</td>
      <td title={time}>{time === undefined ? '' : formatAge(time, Date.now())}</td>
      <td>{manager}</td>
      <td>{operation}</td>
      <td class="wrapped">{changes === undefined ? '' : changesText(changes, hidesValues)}</td>
      <td>
        {onRestore !== undefined && (
          <button type="button" onClick={() => onRestore(entry)}>
            {t('restore')}
            <span class="unseen"> {version}</span>
          </button>
        )}
      </td>
    </tr>
  );
}
