import type { ApiObject, ResourcePlace, User } from '../meta/index.ts';

/** What a request shows of its sender. */
export interface Credentials {
  /** The `Authorization` header, as received. */
  readonly authorization: string | undefined;
  /** The client certificate, verified against the client CA; undefined when none was shown or none is trusted. */
  readonly certificate:
    | {
        readonly commonName: string;
        readonly organizations: readonly string[];
        /** Digest of the certificate, in hex; absent where only a subject is known. */
        readonly sha256?: string;
      }
    | undefined;
}

/** Undefined: nothing here speaks for anyone. Throws a 401 StatusError when credentials are shown and wrong. */
export type Authenticator = (credentials: Credentials) => User | undefined | Promise<User | undefined>;

/** What is to be decided: may `user` do this? */
export interface Attributes {
  readonly user: User;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`…; the lower-case HTTP method for a path that is no resource. */
  readonly verb: string;
  /** Undefined for a path that is no resource. */
  readonly resource: ResourcePlace | undefined;
  /** The path of the URL, without query. */
  readonly path: string;
}

export interface Decision {
  readonly allowed: boolean;
  /** For people, for the log and for the message of a refusal; may be empty. */
  readonly reason: string;
}

export interface Authorizer {
  (attributes: Attributes): Decision | Promise<Decision>;
  /** What `user` may do in a namespace; absent: that cannot be listed here. */
  readonly rulesFor?: (user: User, namespace: string) => Rules | Promise<Rules>;
}

/** What a user may do. */
export interface Rules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** There may be more, which could not be listed. */
  readonly incomplete: boolean;
}

/** In each list `*` means everything; without `resourceNames` every object is meant. */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Paths are exact, or with a trailing `*` every path that begins so. */
export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** Answers a posted review, which has the form of its schema. A refusal is a thrown StatusError. */
export type ReviewHandler = (posted: ApiObject, call: ReviewCall) => ApiObject | Promise<ApiObject>;

export interface ReviewCall {
  /** Who asks; for whom, where the request speaks for another. */
  readonly requester: User;
  /** Of the request; empty at cluster scope. */
  readonly namespace: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}
