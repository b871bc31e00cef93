/** The objects of a kind, live. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ErrorNote } from '../parts/error-note.tsx';
import { useAllowed } from '../state/access.ts';
import { type Kind, kindAt, kinds } from '../state/discovery.ts';
import { createAddress, type KindAddress, namespace } from '../state/route.ts';
import { currentSession } from '../state/session.ts';
import { t } from '../texts.ts';
import { LiveStatusNote } from './live-status-note.tsx';
import { followTable, type LiveTable } from './live-table.ts';
import { ObjectTable } from './object-table.tsx';
import { type Order, shownRows } from './rows.ts';

/** The user's input that selects rows. */
interface Filters {
  readonly text: string;
  readonly labels: string;
  readonly fields: string;
}

const noFilters: Filters = { text: '', labels: '', fields: '' };

export function ListPage({ address }: { readonly address: KindAddress }) {
  const kind = kindAt(address);
  if (kind === undefined) return <p>{kinds.value === undefined ? t('loading') : t('kindNotServed')}</p>;
  return <ListOfKind key={`${kind.apiVersion}/${kind.resource}`} kind={kind} />;
}

function ListOfKind({ kind }: { readonly kind: Kind }) {
  const [filters, setFilters] = useState(noFilters);
  const [order, setOrder] = useState<Order>();
  const inNamespace = kind.namespaced ? namespace.value : '';
  const table = useLiveTable(kind, inNamespace, filters);
  const mayCreate = useAllowed({
    verb: 'create',
    group: kind.group,
    resource: kind.resource,
    ...(inNamespace === '' ? {} : { namespace: inNamespace }),
  });
  const version = table?.version.value;
  const columns = table?.columns.value ?? [];
  // The version changes with the rows.
  const rows = useMemo(
    () => shownRows(table?.rows.values() ?? [], columns, filters.text, order),
    [table, version, columns, filters.text, order],
  );
  return (
    <section class="list" aria-labelledby="list-title">
      <header class="bar">
        <h1 id="list-title">{kind.kind}</h1>
        <span class="dim">{kind.apiVersion}</span>
        {table !== undefined && <LiveStatusNote status={table.status.value} />}
        <span class="dim count" data-testid="count" aria-live="polite">
          {countText(rows.length, table?.rows.size ?? 0)}
        </span>
        {mayCreate && kind.verbs.includes('create') && (
          <a class="button" href={createAddress(kind)}>
            {t('create')}
          </a>
        )}
      </header>
      <FilterBar filters={filters} onChange={setFilters} />
      {table?.error.value !== undefined && <ErrorNote error={table.error.value} />}
      <ObjectTable
        kind={kind}
        columns={columns}
        rows={rows}
        showsNamespace={kind.namespaced && inNamespace === ''}
        order={order}
        onOrder={setOrder}
        loading={table?.status.value === 'loading'}
      />
    </section>
  );
}

function countText(shown: number, all: number): string {
  return shown === all ? t('rowCountAll', { all }) : t('rowCount', { shown, all });
}

/** The live table of a kind; another one when the namespace or a selector changes. */
function useLiveTable(kind: Kind, inNamespace: string, { labels, fields }: Filters): LiveTable | undefined {
  const session = currentSession();
  const [table, setTable] = useState<LiveTable>();
  const { apiVersion, resource } = kind;
  useEffect(() => {
    const stop = new AbortController();
    const place = { apiVersion, resource, ...(inNamespace === '' ? {} : { namespace: inNamespace }) };
    const selection = {
      ...(labels === '' ? {} : { labelSelector: labels }),
      ...(fields === '' ? {} : { fieldSelector: fields }),
    };
    setTable(followTable(session, place, selection, stop.signal));
    return () => stop.abort();
  }, [session, apiVersion, resource, inNamespace, labels, fields]);
  return table;
}

function FilterBar({
  filters,
  onChange,
}: {
  readonly filters: Filters;
  readonly onChange: (filters: Filters) => void;
}) {
  return (
    <div class="filters">
      <input
        type="search"
        id="filter"
        aria-label={t('filterRows')}
        placeholder={`${t('filterRows')}  ( / )`}
        value={filters.text}
        onInput={({ currentTarget }) => onChange({ ...filters, text: currentTarget.value })}
      />
      <input
        aria-label={t('labelSelector')}
        placeholder={t('labelSelector')}
        onChange={({ currentTarget }) => onChange({ ...filters, labels: currentTarget.value.trim() })}
      />
      <input
        aria-label={t('fieldSelector')}
        placeholder={t('fieldSelector')}
        onChange={({ currentTarget }) => onChange({ ...filters, fields: currentTarget.value.trim() })}
      />
    </div>
  );
}
