import { countCodePoints } from '../../meta/index.ts';

/** The gap between columns, and the smallest width of a column with it. */
const gap = 3;
const minWidth = 6;

/**
 * Aligns cells in columns as kubectl does: a column is as wide as its widest cell so far and three spaces. The last cell of a
 * row is not padded. Widths are remembered until `reset`, so that rows that come later are aligned too.
 */
export class TabWriter {
  #widths: number[] = [];
  #rows: { readonly cells: readonly string[]; readonly written: readonly string[] }[] = [];
  readonly #write: (text: string) => unknown;

  constructor(write: (text: string) => unknown) {
    this.#write = write;
  }

  /** Adds a row. An empty row is an empty line. `written`: the cells with colours, which have no width. */
  row(cells: readonly string[], written: readonly string[] = cells): void {
    this.#rows.push({ cells, written });
  }

  /** Writes the rows. */
  flush(): void {
    for (const { cells } of this.#rows) {
      for (const [i, cell] of cells.slice(0, -1).entries()) {
        this.#widths[i] = Math.max(this.#widths[i] ?? 0, minWidth, countCodePoints(cell) + gap);
      }
    }
    const text = this.#rows
      .map(({ cells, written }) => {
        const padded = written.map((cell, i) =>
          i < cells.length - 1 ? cell + this.#gapAfter(cells[i] ?? '', i) : cell,
        );
        return `${padded.join('')}\n`;
      })
      .join('');
    this.#rows = [];
    if (text !== '') this.#write(text);
  }

  /** Forgets the widths: the next rows are those of another table. */
  reset(): void {
    this.#widths = [];
  }

  #gapAfter(cell: string, column: number): string {
    return ' '.repeat(Math.max(0, (this.#widths[column] ?? 0) - countCodePoints(cell)));
  }
}

/** Prints a table whose rows are complete. */
export function printTable(write: (text: string) => unknown, rows: readonly (readonly string[])[]): void {
  const writer = new TabWriter(write);
  for (const row of rows) writer.row(row);
  writer.flush();
}
