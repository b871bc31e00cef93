/** Who makes a request (spec/access.md, "What the service does" 4). */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: { readonly [key: string]: readonly string[] };
}

/** What a request shows of its sender. */
export interface Credentials {
  /** The `Authorization` header, as received. */
  readonly authorization: string | undefined;
  /** The subject of the client certificate, verified against the client CA; undefined when none was shown or none is trusted. */
  readonly certificate: { readonly commonName: string; readonly organizations: readonly string[] } | undefined;
}

/** Undefined: nothing here speaks for anyone. Throws a 401 StatusError when credentials are shown and wrong. */
export type Authenticator = (credentials: Credentials) => User | undefined | Promise<User | undefined>;

/** What is to be decided: may `user` do this? */
export interface Attributes {
  readonly user: User;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`…; the lower-case HTTP method for a path that is no resource. */
  readonly verb: string;
  /** Undefined for a path that is no resource. */
  readonly resource:
    | {
        readonly group: string;
        readonly version: string;
        readonly resource: string;
        readonly subresource: string;
        readonly namespace: string;
        readonly name: string;
      }
    | undefined;
  /** The path of the URL, without query. */
  readonly path: string;
}

export interface Decision {
  readonly allowed: boolean;
  /** For people, for the log and for the message of a refusal; may be empty. */
  readonly reason: string;
}

export type Authorizer = (attributes: Attributes) => Decision | Promise<Decision>;
