/** One answered request. Holds no credentials, no query and no body. */
export interface RequestEntry {
  readonly method: string;
  readonly path: string;
  readonly verb: string;
  readonly user: string;
  readonly address: string;
  readonly agent: string;
  readonly status: number;
  /** Bytes of the body. */
  readonly size: number;
  readonly milliseconds: number;
}

/** Where the server tells what happens. */
export interface Log {
  /** Absent: requests are not logged. */
  readonly request?: (entry: RequestEntry) => void;
  /** `fields.error` is what was thrown. */
  readonly error: (text: string, fields: { readonly [name: string]: unknown }) => void;
}
