/** The conditions of an object. */
import { isJsonObject, type JsonObject, textOf } from '../../meta/index.ts';
import { Panel } from '../parts/panel.tsx';
import { ageOf } from '../table/rows.ts';
import { t } from '../texts.ts';

export function ConditionsPanel({ object }: { readonly object: JsonObject }) {
  const { status } = object;
  const conditions = isJsonObject(status) ? status['conditions'] : undefined;
  if (!Array.isArray(conditions) || conditions.length === 0) return null;
  const now = Date.now();
  return (
    <Panel title={t('conditions')} flush>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('condition')}</th>
            <th scope="col">{t('status')}</th>
            <th scope="col">{t('reason')}</th>
            <th scope="col">{t('since')}</th>
          </tr>
        </thead>
        <tbody>
          {conditions.filter(isJsonObject).map((condition) => (
            <tr key={textOf(condition['type'])}>
              <td>{textOf(condition['type'])}</td>
              <td>{textOf(condition['status'])}</td>
              <td>
                {textOf(condition['reason'])} <span class="dim">{textOf(condition['message'])}</span>
              </td>
              <td>{ageOf(Date.parse(textOf(condition['lastTransitionTime'])) || 0, now)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
