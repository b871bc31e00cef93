import type { X509Certificate } from 'node:crypto';
import type { Annotate, FieldTerm, LabelRequirement, ResourcePlace, User } from '../meta/index.ts';

/** The client certificate of a connection. */
export interface ClientCertificate {
  /** Empty: the subject has none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Of the user, in attributes of the subject. */
  readonly uids?: readonly string[];
  /** Digest of the certificate, in hex; absent for in-process requests. */
  readonly sha256?: string;
  /**
   * The certificate as presented: nothing is verified but that the client has its key. Absent for in-process requests,
   * which have a subject only: it is trusted.
   */
  readonly own?: X509Certificate;
  /** Those that came with it. Anybody may send hundreds, which take long to read: only for an own one that needs them. */
  readonly issuers?: () => Promise<readonly X509Certificate[]>;
}

/** The headers of a request. */
export interface SentHeaders {
  /** By lower-case name. */
  readonly headers: { readonly [name: string]: string | undefined };
  /** The values of a header, one for each time it was sent. Absent: no header was sent twice. */
  headerValues?(name: string): readonly string[];
}

/** The credentials of a request. */
export interface Credentials {
  /** The `Authorization` header, as received. */
  readonly authorization: string | undefined;
  /** One value for all requests of a connection; undefined when the client presented none. */
  readonly certificate: ClientCertificate | undefined;
  /** The path of the URL, without query. Absent: it is not known. */
  readonly path?: string;
  /** Whose turns long work takes while the user is not known: the network of the client. Absent: it is not known. */
  readonly owner?: string;
  /** Absent: no identifying headers. */
  readonly sent?: SentHeaders;
  /** Adds a `Warning` header with this text to the response. */
  readonly warn?: (text: string) => void;
  /** Absent: no request is audited. */
  readonly annotate?: Annotate | undefined;
}

/** The user of a token. */
export interface Authenticated {
  readonly user: User;
  /** The requested audiences for which the token is valid. */
  readonly audiences: readonly string[];
  /** Texts for `Warning` headers of every response to who uses the token. */
  readonly warnings?: readonly string[];
  /** Annotations for the audit events of each request with the token. */
  readonly annotations?: { readonly [key: string]: string };
}

/**
 * Authenticates a bearer token for at least one of the audiences. Undefined: not a token of this kind. Throws a 401
 * StatusError, whose message says why, for a token of this kind that is not valid. Long work takes the turns of `owner`, who
 * has sent the token.
 */
export type TokenAuthenticator = (
  token: string,
  audiences: readonly string[],
  owner?: string,
) => Authenticated | undefined | Promise<Authenticated | undefined>;

/** Undefined: no credentials of this kind. Throws a 401 StatusError when they are invalid. */
export type Authenticator = (credentials: Credentials) => User | undefined | Promise<User | undefined>;

/** The attributes of a request for authorization. */
export interface Attributes {
  readonly user: User;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`…; the lower-case HTTP method of a non-resource request. */
  readonly verb: string;
  /** Undefined for a non-resource request. */
  readonly resource: ResourcePlace | undefined;
  /** The path of the URL, without query. */
  readonly path: string;
  /**
   * The requirements of the field selector of a list, watch or deletecollection. Absent: none, or the feature gate
   * `AuthorizeWithSelectors` is off.
   */
  readonly fieldSelector?: Requirements<FieldTerm>;
  /** The same of the label selector. */
  readonly labelSelector?: Requirements<LabelRequirement>;
}

/** Requirements of a selector, all of which must hold. */
export interface Requirements<R> {
  readonly requirements: readonly R[];
  /** Why some or all requirements are missing. Without them the request is authorized for more than it selects. */
  readonly error?: string;
}

/** The log of decisions. */
export interface DecisionLog {
  /** Absent: nothing of this level is logged, and no text is made. */
  readonly debug?: ((text: string, fields: { readonly [name: string]: unknown }) => void) | undefined;
}

/** Neither allowed nor denied: no opinion. */
export interface Decision {
  readonly allowed: boolean;
  /** An explicit deny: no later authorizer is asked. Never set when allowed. */
  readonly denied?: boolean;
  /** For the log and the message of the 403; may be empty. */
  readonly reason: string;
  /**
   * The failure. A user who is not allowed then gets 500 instead of 403, because a working server might have decided
   * otherwise.
   */
  readonly error?: string;
}

export const noOpinion: Decision = { allowed: false, reason: '' };

export interface Authorizer {
  (attributes: Attributes): Decision | Promise<Decision>;
  /** The rules of `user` in a namespace; absent: this authorizer cannot enumerate rules. */
  readonly rulesFor?: (user: User, namespace: string) => Rules | Promise<Rules>;
}

/** Is told what one authorizer of the chain does. */
export interface AuthorizerObserver {
  /** It has allowed or denied. */
  decided(decision: 'allowed' | 'denied'): void;
  /** Its match conditions have been evaluated. */
  matched(outcome: 'match' | 'exclusion' | 'error', seconds: number): void;
  /** Its webhook was called, and answered or failed. */
  called(result: CallResult, seconds: number): void;
  /** All calls for a decision have failed, and later authorizers are asked. */
  failedOpen(result: CallResult): void;
}

/** The outcome of a call of a webhook. */
export type CallResult = 'success' | 'timeout' | 'error';

/** Is told what authorizers do. */
export interface AuthorizationObserver {
  /** The observer of the authorizer with this name, and of one that replaces it. */
  authorizer(type: string, name: string): AuthorizerObserver;
  /** Another configuration was to be used. */
  reloaded(status: 'success' | 'failure'): void;
}

/** The rules of a user. */
export interface Rules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** Not all authorizers can enumerate their rules. */
  readonly incomplete: boolean;
  /** Why rules may be missing. */
  readonly evaluationError?: string;
}

/** `*` in a list matches everything; without `resourceNames` the rule applies to every object. */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Paths are exact, or prefixes with a trailing `*`. */
export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}
