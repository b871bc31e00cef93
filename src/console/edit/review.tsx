/** The preview of a change: the diff and the warnings of a dry run, or the owners of conflicting fields. */
import { useEffect, useState } from 'preact/hooks';
import type { JsonObject } from '../../meta/index.ts';
import { pathText } from '../object/paths.ts';
import { withoutValues } from '../object/secret-values.ts';
import { ErrorNote } from '../parts/error-note.tsx';
import { Panel } from '../parts/panel.tsx';
import { t } from '../texts.ts';
import type { Removal } from './apply-plan.ts';
import { noGuide } from './editor.ts';
import { conflictsOf, type FieldConflict, type Resolution, type SaveResult } from './save.ts';
import { inOrderOf, yamlOf } from './yaml.ts';
import { YamlView } from './yaml-view.tsx';

export interface ReviewProps {
  /** The object before the change; undefined for a new one. */
  readonly before: JsonObject | undefined;
  readonly removals: readonly Removal[];
  /** Whether the values of a secret are not shown. */
  readonly hidesValues?: boolean;
  readonly save: (resolution: Resolution, dryRun: boolean) => Promise<SaveResult>;
  readonly onSaved: (result: SaveResult) => void;
  readonly onBack: () => void;
}

export function Review({ before, removals, hidesValues = false, save, onSaved, onBack }: ReviewProps) {
  const [resolution, setResolution] = useState<Resolution>('none');
  const [preview, setPreview] = useState<SaveResult>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  // The change stays the same during a review.
  useEffect(() => {
    let current = true;
    setError(undefined);
    setPreview(undefined);
    save(resolution, true).then(
      (result) => current && setPreview(result),
      (why: unknown) => current && setError(why),
    );
    return () => {
      current = false;
    };
  }, [resolution]);
  const confirm = async () => {
    setBusy(true);
    try {
      onSaved(await save(resolution, false));
    } catch (why) {
      setError(why);
      setBusy(false);
    }
  };
  const conflicts = conflictsOf(error);
  return (
    <section class="review" aria-label={t('review')}>
      <div class="bar">
        <h2>{t('review')}</h2>
        <span class="actions">
          <button type="button" onClick={onBack}>
            {t('back')}
          </button>
          <button type="button" class="primary" disabled={preview === undefined || busy} onClick={() => void confirm()}>
            {t('save')}
          </button>
        </span>
      </div>
      {conflicts.length > 0 ? (
        <Conflicts conflicts={conflicts} onChoose={setResolution} />
      ) : (
        error !== undefined && <ErrorNote error={error} />
      )}
      {removals.length > 0 && <Removals removals={removals} />}
      {preview !== undefined && preview.warnings.length > 0 && <Warnings warnings={preview.warnings} />}
      {preview !== undefined && <Diff before={before} after={preview.object} hidesValues={hidesValues} />}
    </section>
  );
}

interface DiffProps {
  readonly before: JsonObject | undefined;
  readonly after: JsonObject;
  readonly hidesValues: boolean;
}

function Diff({ before, after, hidesValues }: DiffProps) {
  const [from, to] = hidesValues ? withoutValues(before, after) : [before, after];
  const original = from === undefined ? '' : yamlOf(from);
  const changed = yamlOf(inOrderOf(from, to) as JsonObject);
  return changed === original ? (
    <p class="dim">{t('nothingChanges')}</p>
  ) : (
    <YamlView label={t('changes')} text={changed} original={original} editable={false} guide={noGuide} />
  );
}

const Warnings = ({ warnings }: { readonly warnings: readonly string[] }) => (
  <div class="note warning" role="status">
    <p>{t('warnings')}</p>
    <ul>
      {warnings.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  </div>
);

const Removals = ({ removals }: { readonly removals: readonly Removal[] }) => (
  <div class="note warning" role="status">
    <p>{t('removalHint')}</p>
    <ul>
      {removals.map(({ path, managers }) => (
        <li key={pathText(path)}>
          <code>{pathText(path)}</code> {managers.join(', ')}
        </li>
      ))}
    </ul>
  </div>
);

interface ConflictsProps {
  readonly conflicts: readonly FieldConflict[];
  readonly onChoose: (resolution: Resolution) => void;
}

const Conflicts = ({ conflicts, onChoose }: ConflictsProps) => (
  <Panel title={t('conflicts')} flush>
    <div class="inside" role="alert">
      {t('conflictHint')}
    </div>
    <table data-testid="conflicts">
      <thead>
        <tr>
          <th scope="col">{t('field')}</th>
          <th scope="col">{t('manager')}</th>
        </tr>
      </thead>
      <tbody>
        {conflicts.map(({ field, message }) => (
          <tr key={`${field} ${message}`}>
            <td>
              <code>{field}</code>
            </td>
            <td>{message}</td>
          </tr>
        ))}
      </tbody>
    </table>
    <div class="inside row">
      <button type="button" onClick={() => onChoose('takeOver')}>
        {t('takeOver')}
      </button>
      <button type="button" onClick={() => onChoose('keepTheirs')}>
        {t('keepTheirs')}
      </button>
    </div>
  </Panel>
);
