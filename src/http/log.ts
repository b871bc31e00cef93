/** A completed request. Contains no credentials, query or body. */
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

/** The log of the server. */
export interface Log {
  /** Absent: requests are not logged. */
  readonly request?: ((entry: RequestEntry) => void) | undefined;
  /** `fields.error` is the thrown value. */
  readonly error: (text: string, fields: { readonly [name: string]: unknown }) => void;
  readonly warn: (text: string, fields: { readonly [name: string]: unknown }) => void;
}
