/** The path of a request: a resource of a group version, in one namespace or all, and optionally one object. */
export interface Place {
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  /** The plural name, such as `configmaps`. */
  readonly resource: string;
  /** Absent for cluster-scoped resources and for all namespaces. */
  readonly namespace?: string;
  readonly name?: string;
  /** Such as `status`. */
  readonly subresource?: string;
}
