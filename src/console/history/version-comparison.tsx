/** The differences between two versions of an object: their fields as a table, and their YAML. */
import { changesOf, type VersionEntry } from '../../client/index.ts';
import type { Json, JsonObject } from '../../meta/index.ts';
import { Comparison } from '../edit/comparison.tsx';
import { inOrderOf, yamlOf } from '../edit/yaml.ts';
import { withoutValues } from '../object/secret-values.ts';
import { Panel } from '../parts/panel.tsx';
import { t } from '../texts.ts';

export interface VersionComparisonProps {
  readonly before: VersionEntry;
  readonly after: VersionEntry;
  readonly hidesValues: boolean;
}

/** The table has the first of the fields that differ. */
const maxFields = 200;
/** Longer values are cut. */
const maxText = 200;

export function VersionComparison({ before, after, hidesValues }: VersionComparisonProps) {
  const [from = {}, to] = hidesValues ? withoutValues(before.object, after.object) : [before.object, after.object];
  const texts = {
    before: t('versionOf', { version: before.version }),
    after: t('versionOf', { version: after.version }),
  };
  const changes = changesOf(from, to);
  return (
    <>
      <Panel title={t('changedFields')} flush={changes.length > 0}>
        {changes.length === 0 ? (
          <p class="dim">{t('nothingChanges')}</p>
        ) : (
          <table aria-label={t('changedFields')}>
            <thead>
              <tr>
                <th scope="col">{t('field')}</th>
                <th scope="col">{texts.before}</th>
                <th scope="col">{texts.after}</th>
              </tr>
            </thead>
            <tbody>
              {changes.slice(0, maxFields).map((change) => (
                <tr key={change.path}>
                  <td class="wrapped">
                    <code>{change.path}</code>
                  </td>
                  <td class="removed">{shownText(change.before)}</td>
                  <td class="added">{shownText(change.after)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {changes.length > maxFields && (
          <p class="dim inside">{t('moreFields', { count: changes.length - maxFields })}</p>
        )}
      </Panel>
      <Comparison
        before={{ label: texts.before, text: yamlOf(from) }}
        after={{ label: texts.after, text: yamlOf(inOrderOf(from, to) as JsonObject) }}
      />
    </>
  );
}

function shownText(value: Json | undefined): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > maxText ? `${text.slice(0, maxText)}…` : text;
}
