/** Creating an object from an example of its schema. */
import { useMemo, useState } from 'preact/hooks';
import type { ApiObject } from '../../meta/index.ts';
import { FieldPanel } from '../object/field-panel.tsx';
import { guideOf, useSchema } from '../object/guide.ts';
import type { FieldPath } from '../object/paths.ts';
import { ErrorNote } from '../parts/error-note.tsx';
import { type Kind, kindAt, kinds } from '../state/discovery.ts';
import { goTo, type KindAddress, listAddress, namespace, objectAddress } from '../state/route.ts';
import { currentSession } from '../state/session.ts';
import { t } from '../texts.ts';
import { exampleOf } from './example.ts';
import { Review } from './review.tsx';
import { createObject } from './save.ts';
import { yamlProblems } from './validation.ts';
import { readYaml, yamlOf } from './yaml.ts';
import { YamlView } from './yaml-view.tsx';

const noOwners = new Map();

export function CreatePage({ address }: { readonly address: KindAddress }) {
  const kind = kindAt(address);
  if (kind === undefined) return <p>{kinds.value === undefined ? t('loading') : t('kindNotServed')}</p>;
  return <CreateOfKind kind={kind} />;
}

function CreateOfKind({ kind }: { readonly kind: Kind }) {
  const session = currentSession();
  const schema = useSchema(kind);
  const guide = useMemo(() => guideOf(noOwners, schema), [schema]);
  const [path, setPath] = useState<FieldPath>([]);
  const example = useMemo(() => yamlOf(exampleOf(kind, schema, namespace.peek())), [kind, schema]);
  const [typed, setTyped] = useState<string>();
  const [object, setObject] = useState<ApiObject>();
  const [error, setError] = useState<unknown>();
  const review = () => {
    try {
      setObject(readYaml(typed ?? example) as unknown as ApiObject);
      setError(undefined);
    } catch (why) {
      setError(new Error(t('invalidYaml', { why: why instanceof Error ? why.message : String(why) })));
    }
  };
  return (
    <article class="object">
      <div class="top-part">
        <header class="bar">
          <h1>{t('createTitle', { kind: kind.kind })}</h1>
          {object === undefined && (
            <span class="actions">
              <a class="button" href={listAddress(kind)}>
                {t('cancel')}
              </a>
              <button type="button" class="primary" onClick={review}>
                {t('review')}
              </button>
            </span>
          )}
        </header>
        {error !== undefined && <ErrorNote error={error} />}
      </div>
      <div class="text">
        {object === undefined ? (
          <YamlView
            key={example}
            label={t('createTitle', { kind: kind.kind })}
            text={typed ?? example}
            editable
            guide={guide}
            check={(typed) => yamlProblems(typed, schema)}
            onChange={setTyped}
            onField={setPath}
          />
        ) : (
          <Review
            before={undefined}
            removals={[]}
            save={(_, dryRun) => createObject(session, kind, object, dryRun)}
            onSaved={({ object: { metadata } }) =>
              goTo(objectAddress(kind, metadata.namespace ?? '', metadata.name ?? ''))
            }
            onBack={() => setObject(undefined)}
          />
        )}
      </div>
      <div class="aside">
        <FieldPanel path={path} owners={noOwners} schema={schema} />
      </div>
    </article>
  );
}
