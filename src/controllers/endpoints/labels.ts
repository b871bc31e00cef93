import type { Names } from '../../meta/index.ts';

/** The labels and annotations of endpoints and endpoint slices. */
export const endpointKeys = ({ domain, labels }: Names) => ({
  /** Annotation: when what made the last write necessary happened. */
  triggerTime: `endpoints.${labels}/last-change-trigger-time`,
  /** Annotation: endpoints have been left out. */
  overCapacity: `endpoints.${labels}/over-capacity`,
  /** Annotation: the object is the record of a leader election. */
  leader: `control-plane.alpha.${labels}/leader`,
  lastApplied: `kubectl.${labels}/last-applied-configuration`,
  /** Label: the service has no cluster IP. */
  headless: `service.${labels}/headless`,
  /** Label of endpoints: who writes them. */
  endpointsManagedBy: `endpoints.${labels}/managed-by`,
  /** Label of endpoint slices: who writes them. */
  sliceManagedBy: `endpointslice.${labels}/managed-by`,
  /** Label of endpoint slices: the name of their service. */
  serviceName: `${labels}/service-name`,
  /** Label of endpoints that are not mirrored. */
  skipMirror: `endpointslice.${labels}/skip-mirror`,
  topologyMode: `service.${labels}/topology-mode`,
  topologyHints: `service.${labels}/topology-aware-hints`,
  /** Label of nodes. */
  zone: `topology.${labels}/zone`,
  /** Values of `sliceManagedBy`. */
  sliceController: `endpointslice-controller.${domain}`,
  mirroringController: `endpointslicemirroring-controller.${domain}`,
});
export type EndpointKeys = ReturnType<typeof endpointKeys>;
