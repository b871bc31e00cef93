/** The description and the owners of the field under the cursor, for those who do not see or hover over the editor. */
import { Panel } from '../parts/panel.tsx';
import { t } from '../texts.ts';
import type { FieldOwners } from './field-owners.ts';
import { managersAt } from './guide.ts';
import { type FieldPath, pathText } from './paths.ts';
import { descriptionOf, type KindSchema, typeText } from './schema.ts';

export interface FieldPanelProps {
  readonly path: FieldPath;
  readonly owners: FieldOwners;
  readonly schema: KindSchema | undefined;
}

export function FieldPanel({ path, owners, schema }: FieldPanelProps) {
  if (path.length === 0) {
    return (
      <Panel title={t('field')}>
        <p class="dim">{t('fieldHint')}</p>
      </Panel>
    );
  }
  const managers = managersAt(owners, path);
  const field = schema?.at(path) ?? {};
  return (
    <Panel title={t('field')}>
      <div aria-live="polite" data-testid="field">
        <p>
          <code>{pathText(path)}</code> <span class="dim">{typeText(field)}</span>
        </p>
        <p>{managers.length > 0 ? t('ownedBy', { managers: managers.join(', ') }) : t('ownedByNobody')}</p>
        <p class="dim">{descriptionOf(field) || t('noDescription')}</p>
      </div>
    </Panel>
  );
}
