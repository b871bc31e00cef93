/** The path of a request: a resource in a version, one namespace or all, and for one object its name. */
export interface Place {
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  /** The plural name, such as `configmaps`. */
  readonly resource: string;
  /** Absent: cluster-scoped, or all namespaces. */
  readonly namespace?: string;
  readonly name?: string;
  /** Such as `status`. */
  readonly subresource?: string;
}
