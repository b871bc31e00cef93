/** A table of objects with virtual rows, in the columns of the server. */
import type { TargetedKeyboardEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Kind } from '../state/discovery.ts';
import { goTo, objectAddress } from '../state/route.ts';
import { t } from '../texts.ts';
import { ageOf, type Column, isAge, type Order, type Row } from './rows.ts';
import { rowHeight, useWindow } from './virtual-rows.tsx';

export interface ObjectTableProps {
  readonly kind: Kind;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly showsNamespace: boolean;
  readonly order: Order | undefined;
  readonly onOrder: (order: Order) => void;
  readonly loading: boolean;
}

export function ObjectTable({ kind, columns, rows, showsNamespace, order, onOrder, loading }: ObjectTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [selected, setSelected] = useState(-1);
  const { first, end } = useWindow(scroller, rows.length);
  const shown = columns.map((column, index) => ({ column, index })).filter(({ column }) => column.priority === 0);
  const now = Date.now();
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const next = nextSelection(event.key, selected, rows.length);
    const row = rows[selected];
    if (next !== undefined) {
      event.preventDefault();
      setSelected(next);
      reveal(scroller.current, next);
    } else if (event.key === 'Enter' && row !== undefined && event.target === event.currentTarget) {
      goTo(objectAddress(kind, row.namespace, row.name));
    }
  };
  const headers = { order, onOrder };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the table scrolls, and its rows are chosen with the arrow keys
    <section class="scroller" ref={scroller} tabIndex={0} aria-label={kind.kind} onKeyDown={onKeyDown}>
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {showsNamespace && <Header by="namespace" name={t('namespace')} {...headers} />}
            {shown.map(({ column, index }) => (
              <Header key={index} by={index} name={column.name} description={column.description} {...headers} />
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <Spacer rows={first} />}
          {rows.slice(first, end).map((row, offset) => (
            <tr
              key={row.key}
              aria-rowindex={first + offset + 2}
              class={`${first + offset === selected ? 'selected' : ''} ${row.deleting ? 'deleting' : ''}`}
              onClick={() => setSelected(first + offset)}
            >
              {showsNamespace && <td>{row.namespace}</td>}
              {shown.map(({ column, index }) => (
                <td key={index} class={typeof row.cells[index] === 'number' ? 'number' : ''}>
                  <CellText kind={kind} row={row} column={column} index={index} now={now} />
                </td>
              ))}
            </tr>
          ))}
          {end < rows.length && <Spacer rows={rows.length - end} />}
        </tbody>
      </table>
      {rows.length === 0 && <p class="dim empty">{t(loading ? 'loading' : 'noObjects')}</p>}
    </section>
  );
}

/** Takes the place of rows that are not rendered. */
const Spacer = ({ rows }: { readonly rows: number }) => (
  <tr class="spacer" style={{ height: `${rows * rowHeight}px` }}>
    <td />
  </tr>
);

interface HeaderProps {
  readonly by: Order['by'];
  readonly name: string;
  readonly description?: string;
  readonly order: Order | undefined;
  readonly onOrder: (order: Order) => void;
}

function Header({ by, name, description = '', order, onOrder }: HeaderProps) {
  const sorted = order?.by === by ? (order.descending ? 'descending' : 'ascending') : undefined;
  return (
    <th scope="col" {...(sorted === undefined ? {} : { 'aria-sort': sorted })}>
      <button
        type="button"
        title={description}
        aria-label={t('sortBy', { column: name })}
        onClick={() => onOrder({ by, descending: sorted === 'ascending' })}
      >
        {name}
        <span aria-hidden="true">{sorted === undefined ? '' : sorted === 'ascending' ? ' ▲' : ' ▼'}</span>
      </button>
    </th>
  );
}

interface CellProps {
  readonly kind: Kind;
  readonly row: Row;
  readonly column: Column;
  readonly index: number;
  readonly now: number;
}

function CellText({ kind, row, column, index, now }: CellProps) {
  const cell = row.cells[index];
  if (index === 0) return <a href={objectAddress(kind, row.namespace, row.name)}>{String(cell ?? row.name)}</a>;
  return <>{isAge(column) ? ageOf(row.created, now) : String(cell ?? '')}</>;
}

/** The row that a key selects. */
function nextSelection(key: string, selected: number, count: number): number | undefined {
  const target = { ArrowDown: selected + 1, ArrowUp: selected - 1, Home: 0, End: count - 1 }[key];
  return target === undefined || count === 0 ? undefined : Math.max(0, Math.min(count - 1, target));
}

/** Scrolls to a row. The header covers the first. */
function reveal(scroller: HTMLElement | null, row: number): void {
  if (scroller === null) return;
  const top = row * rowHeight;
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  const bottom = top + 2 * rowHeight;
  if (bottom > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = bottom - scroller.clientHeight;
}
