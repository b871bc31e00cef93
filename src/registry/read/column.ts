import { type ApiObject, formatSpan, type Json, type Names } from '../../meta/index.ts';

/** A column of a table (spec/resource-api.md, "Table representation"). */
export interface Column<T = ApiObject> {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** `name` for the column that identifies the row. */
  readonly format?: string;
  readonly description?: string;
  /** 0: always shown; more: in wide output only. */
  readonly priority?: number;
  readonly cell: (object: T, context: CellContext) => Json | AgeCell;
}

/** A cell that shows the time since a point in time, between texts that need no escape in JSON. */
export class AgeCell {
  /** Milliseconds since 1970; NaN when there is none. */
  readonly time: number;
  readonly before: string;
  readonly after: string;

  constructor(time: string | null | undefined, before = '', after = '') {
    this.time = Date.parse(time ?? '');
    this.before = before;
    this.after = after;
  }

  /** `5m`; `<unknown>` when `time` is NaN. */
  static age(time: number, now: number): string {
    return Number.isNaN(time) ? '<unknown>' : formatSpan(now - time);
  }
}

export interface CellContext {
  /** Milliseconds since 1970. A cell that does not read it is computed once for each object; see {@link AgeCell}. */
  readonly now: number;
  readonly names: Names;
}

/** Why an object is done: the `Completed` condition of its table row. */
export interface Completion {
  readonly reason: string;
  readonly message: string;
}
