import type { ByteString, JsonObject, ResourcePlace, StatusDetails, User } from '../meta/index.ts';

/** How much of a request is logged, from nothing to all. */
export const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type Level = (typeof levels)[number];

/** The stages of a request at which an event is made. */
export const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type Stage = (typeof stages)[number];

/** Resources of an API group. An empty list of resources, or of names, stands for all. */
export interface GroupResources {
  /** Empty: the core group; `*`: all groups. */
  readonly group?: string;
  // `pods`, `pods/log`, `pods/*` (pods and all their subresources), `*/scale` or `*`.
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** A rule of a policy. It applies to a request that every field allows; an absent or empty list allows all. */
export interface PolicyRule {
  readonly level: Level;
  readonly users?: readonly string[];
  readonly userGroups?: readonly string[];
  readonly verbs?: readonly string[];
  readonly resources?: readonly GroupResources[];
  /** The empty name stands for the cluster scope. */
  readonly namespaces?: readonly string[];
  /** Paths, or prefixes with a trailing `*`. */
  readonly nonResourceURLs?: readonly string[];
  /** In addition to those of the policy. */
  readonly omitStages?: readonly Stage[];
  /** In place of that of the policy. */
  readonly omitManagedFields?: boolean;
}

/** An audit policy. The first rule that applies to a request gives its level; without any it is `None`. */
export interface Policy {
  readonly rules: readonly PolicyRule[];
  readonly omitStages?: readonly Stage[];
  readonly omitManagedFields?: boolean;
}

/** The attributes of a request by which a policy decides. */
export interface AuditAttributes {
  /** Undefined: the request was not authenticated. */
  readonly user: User | undefined;
  readonly verb: string;
  /** Undefined for a non-resource request. */
  readonly resource: ResourcePlace | undefined;
  readonly path: string;
}

/** The status of a response, in the fields that an event shows. */
export interface ResponseStatus {
  readonly status?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly details?: StatusDetails | undefined;
  readonly code?: number | undefined;
}

/** The object that a request is about. */
export interface ObjectReference {
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly apiGroup?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
  readonly subresource?: string;
}

/** An event of the API group `audit.<domain>/v1`. */
export interface AuditEvent {
  readonly level: Level;
  readonly auditID: string;
  readonly stage: Stage;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: JsonObject;
  readonly impersonatedUser?: JsonObject | undefined;
  readonly sourceIPs?: readonly string[] | undefined;
  readonly userAgent?: string | undefined;
  readonly objectRef?: ObjectReference | undefined;
  readonly responseStatus?: (ResponseStatus & { readonly metadata: object }) | undefined;
  /** JSON. */
  readonly requestObject?: ByteString | undefined;
  /** JSON. */
  readonly responseObject?: ByteString | undefined;
  /** Milliseconds since 1970. */
  readonly received: number;
  /** When the stage was reached: milliseconds since 1970. */
  readonly reached: number;
  readonly annotations?: { readonly [key: string]: string } | undefined;
}

/** Whether requests wait until a backend has written their events, and are refused where it cannot. */
export const modes = ['batch', 'blocking', 'blocking-strict'] as const;
export type Mode = (typeof modes)[number];

/** Takes events to where they are kept. */
export interface AuditBackend {
  readonly mode: Mode;
  /**
   * Takes an event into its buffer. Never throws: an event that is lost is counted and logged. A request waits for the
   * result, and is refused when that is false; undefined: it waits for nothing.
   */
  write(event: AuditEvent): Promise<boolean> | undefined;
  /** Delivers what is buffered; what is left after `graceMs` is lost. Nothing may be written afterwards. */
  close(graceMs: number): Promise<void>;
}

/** The counters of auditing. */
export interface AuditCounts {
  /** Events made. */
  events: number;
  /** Requests refused because their event could not be stored. */
  rejected: number;
  /** Requests by the level of their policy rule. */
  readonly levels: Map<Level, number>;
  /** Lost events by the part that lost them. */
  readonly errors: Map<string, number>;
}
