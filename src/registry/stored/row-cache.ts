import type { CachedObject } from '../../cache/index.ts';
import type { ByteString } from '../../meta/index.ts';

/**
 * The start of a table row, up to the included object: texts, and between two of them the time of an age cell
 * (milliseconds since 1970; NaN: none).
 */
export type Row = readonly (ByteString | number)[];

/** Maximum size of the rows that one registry keeps (bytes). */
const maxBytes = 64 * 1024 * 1024;
/** The memory that a row takes in addition to its texts, and each of its parts (bytes). */
const rowOverhead = 48;
const partOverhead = 32;

interface Generation {
  /** The number of its first row. */
  readonly first: number;
  readonly rows: Row[];
  bytes: number;
}

/**
 * The table rows of recently shown objects, by a number in the object. There are two generations, each with half of the
 * limit: when the young one is full, the old one is dropped, and with it the rows that nobody has read meanwhile and those
 * of objects that have been replaced. One for each registry.
 */
export class RowCache {
  readonly #half: number;
  #old: Generation = { first: 0, rows: [], bytes: 0 };
  #young: Generation = { first: 1, rows: [], bytes: 0 };

  constructor(limit = maxBytes) {
    this.#half = limit / 2;
  }

  /** The size of all rows (bytes). */
  get bytes(): number {
    return this.#old.bytes + this.#young.bytes;
  }

  /** Whether there is a row of the object with these columns. */
  has(object: CachedObject, columns: object): boolean {
    return object.row !== undefined && object.rowOf === columns && object.row >= this.#old.first;
  }

  get(object: CachedObject, columns: object): Row | undefined {
    if (!this.has(object, columns)) return undefined;
    const number = object.row as number;
    if (number >= this.#young.first) return this.#young.rows[number - this.#young.first];
    const row = this.#old.rows[number - this.#old.first] as Row;
    this.set(object, columns, row);
    return row;
  }

  /** Keeps a row that depends on nothing but the object and the columns. */
  set(object: CachedObject, columns: object, row: Row): void {
    let bytes = rowOverhead;
    for (const part of row) bytes += partOverhead + (typeof part === 'number' ? 0 : part.length);
    if (bytes > this.#half) return;
    if (this.#young.bytes + bytes > this.#half) {
      this.#old = this.#young;
      this.#young = { first: this.#old.first + this.#old.rows.length, rows: [], bytes: 0 };
    }
    const { first, rows } = this.#young;
    object.row = first + rows.length;
    object.rowOf = columns;
    rows.push(row);
    this.#young.bytes += bytes;
  }
}
