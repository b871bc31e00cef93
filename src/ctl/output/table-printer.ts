import type { Resource } from '../cluster/resource.ts';
import { cellsOf, headerOf, type ServerTable, type TableOptions } from './server-table.ts';
import { TabWriter } from './tab-writer.ts';

/** Prints the tables of several resources, an empty line between them. */
export class TablePrinter {
  readonly #write: (text: string) => unknown;
  readonly #writer: TabWriter;
  readonly #options: TableOptions;
  #resource: Resource | undefined;
  #columns: ServerTable['columns'] = [];

  constructor(write: (text: string) => unknown, options: TableOptions) {
    this.#write = write;
    this.#writer = new TabWriter(write);
    this.#options = options;
  }

  /** Whether no row has been printed. */
  get isEmpty(): boolean {
    return this.#resource === undefined;
  }

  /** Adds rows of a resource. Columns stay those of its first table where a later one has none. */
  add(resource: Resource, { columns, rows }: ServerTable): void {
    if (columns.length > 0) this.#columns = columns;
    if (rows.length === 0) return;
    const options = { ...this.#options, withNamespace: this.#options.withNamespace && resource.namespaced };
    if (this.#resource !== resource) {
      if (this.#resource !== undefined) this.#separate();
      this.#resource = resource;
      if (!options.noHeaders) this.#writer.row(headerOf(this.#columns, options));
    }
    const status = headerOf(this.#columns, options).indexOf('STATUS');
    for (const row of rows) {
      const cells = cellsOf(row, this.#columns, resource, options);
      this.#writer.row(
        cells,
        cells.map((cell, i) => (i === status ? options.paintStatus(cell) : cell)),
      );
    }
  }

  #separate(): void {
    this.#writer.flush();
    this.#writer.reset();
    this.#write('\n');
  }

  /** Writes the rows so far. Later rows of the same resource are aligned with them. */
  flush(): void {
    this.#writer.flush();
  }
}
