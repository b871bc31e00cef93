import { aggregateContainers, encodeResourceList, isHugePages, isPodLevelResource } from '../../rules/index.ts';
import type {
  Container,
  EphemeralContainer,
  Pod,
  PodSpec,
  PodTemplateSpec,
  Probe,
  Volume,
} from '../../types/core-v1.ts';
import { defaultPullPolicy } from './image.ts';
import { roundQuantities, withMissing } from './resource-list.ts';

type Handler = Pick<Probe, 'httpGet'>;
type Reference = { apiVersion?: string } | undefined;

/** Sets the defaults of a pod spec, in pods and in pod templates. */
function defaultPodSpec(spec: PodSpec): void {
  spec.dnsPolicy ||= 'ClusterFirst';
  spec.restartPolicy ||= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ||= 'default-scheduler';
  mirrorServiceAccount(spec);
  roundQuantities(spec.overhead);
  roundQuantities(spec.resources?.limits);
  roundQuantities(spec.resources?.requests);
  spec.volumes?.forEach(defaultVolume);
  spec.initContainers?.forEach(defaultContainer);
  spec.containers?.forEach(defaultContainer);
  spec.ephemeralContainers?.forEach(defaultContainer);
}

/** Sets the defaults of a pod template that has a spec. */
export function defaultTemplate(template: PodTemplateSpec | null | undefined): void {
  if (template?.spec !== undefined) defaultPodSpec(template.spec);
}

/** Copies `serviceAccountName` into the deprecated `serviceAccount`, or back when only the latter is set. */
export function mirrorServiceAccount(spec: PodSpec): void {
  const account = spec.serviceAccountName || spec.serviceAccount || '';
  if (account === '') return;
  spec.serviceAccountName = account;
  spec.serviceAccount = account;
}

/** Sets the defaults of a pod, including those that do not apply to pod templates. */
export function defaultPod({ spec, status }: Pick<Pod, 'spec' | 'status'>): void {
  if (spec !== undefined) {
    defaultPodSpec(spec);
    for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
      const { resources } = container;
      if (resources?.limits !== undefined) resources.requests = withMissing(resources.requests, resources.limits);
      if (spec.hostNetwork !== true) continue;
      for (const port of container.ports ?? []) {
        if (port.containerPort) port.hostPort ||= port.containerPort;
      }
    }
    defaultPodResources(spec);
    spec.enableServiceLinks ??= true;
  }
  if (status?.podIP) {
    // `podIP` and the first of `podIPs` must agree; `podIP` wins.
    const [first] = status.podIPs ?? [];
    if (first?.ip !== status.podIP) status.podIPs = [{ ip: status.podIP }];
  } else if (status?.podIPs?.[0]?.ip) status.podIP = status.podIPs[0].ip;
}

/** Sets pod-level requests when pod-level resources are given: the sum of the containers' requests, else the limit. */
function defaultPodResources(spec: PodSpec): void {
  const { resources } = spec;
  if (resources === undefined) return;
  const { requests = {}, limits = {} } = resources;
  if (Object.keys(requests).length + Object.keys(limits).length > 0) {
    const huge = Object.entries(encodeResourceList(aggregateContainers(spec, 'limits'))).filter(
      ([name]) => isHugePages(name) && !Object.hasOwn(requests, name),
    );
    if (huge.length > 0) resources.limits = withMissing(limits, Object.fromEntries(huge));
  }
  if (Object.keys(resources.limits ?? {}).length === 0) return;
  const aggregatedRequests = Object.entries(encodeResourceList(aggregateContainers(spec, 'requests'))).filter(
    ([name]) => isPodLevelResource(name) && !isHugePages(name),
  );
  const limited = Object.entries(resources.limits ?? {}).filter(([name]) => isPodLevelResource(name));
  const podRequests = withMissing(
    withMissing(requests, Object.fromEntries(aggregatedRequests)),
    Object.fromEntries(limited),
  );
  if (Object.keys(podRequests).length > 0) resources.requests = podRequests;
}

function defaultContainer(container: Container | EphemeralContainer): void {
  container.imagePullPolicy ||= defaultPullPolicy(container.image);
  container.terminationMessagePath ||= '/dev/termination-log';
  container.terminationMessagePolicy ||= 'File';
  roundQuantities(container.resources?.limits);
  roundQuantities(container.resources?.requests);
  for (const { valueFrom } of container.env ?? []) defaultReference(valueFrom?.fieldRef);
  defaultProbe(container.livenessProbe);
  defaultProbe(container.readinessProbe);
  defaultProbe(container.startupProbe);
  defaultHandler(container.lifecycle?.postStart);
  defaultHandler(container.lifecycle?.preStop);
}

function defaultProbe(probe: Probe | undefined): void {
  if (probe === undefined) return;
  defaultHandler(probe);
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
}

function defaultHandler(handler: Handler | undefined): void {
  const { httpGet } = handler ?? {};
  if (httpGet === undefined) return;
  httpGet.path ||= '/';
  httpGet.scheme ||= 'HTTP';
}

function defaultReference(reference: Reference): void {
  if (reference !== undefined) reference.apiVersion ||= 'v1';
}

const READABLE = 0o644;
const HOUR = 3600;

function defaultVolume(volume: Volume): void {
  const { name: _, ...sources } = volume;
  if (Object.keys(sources).length === 0) volume.emptyDir = {};
  const { hostPath, secret, configMap, downwardAPI, projected, ephemeral, image } = volume;
  if (hostPath !== undefined) hostPath.type ??= '';
  for (const source of [secret, configMap, downwardAPI, projected]) {
    if (source !== undefined) source.defaultMode ??= READABLE;
  }
  for (const { fieldRef } of downwardAPI?.items ?? []) defaultReference(fieldRef);
  for (const source of projected?.sources ?? []) {
    if (source.serviceAccountToken !== undefined) source.serviceAccountToken.expirationSeconds ??= HOUR;
    for (const { fieldRef } of source.downwardAPI?.items ?? []) defaultReference(fieldRef);
  }
  const claim = ephemeral?.volumeClaimTemplate?.spec;
  if (claim !== undefined) claim.volumeMode ??= 'Filesystem';
  if (image !== undefined) image.pullPolicy ||= defaultPullPolicy(image.reference);
}
