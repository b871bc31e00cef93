/** The authenticated user of a request (spec/access.md, "What the service does" 4). */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: { readonly [key: string]: readonly string[] };
}

/** The target of a request: a collection, an object or a subresource. Absent parts are empty. */
export interface ResourcePlace {
  readonly group: string;
  readonly version: string;
  /** The plural name, as in the URL. */
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}
