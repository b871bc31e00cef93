import { describe, expect, test } from 'vitest';
import { errorsNow, type Json, type JsonObject, jsonCopy, namesFor } from '../../meta/index.ts';
import { created, type ReportedError } from '../pod-template/testing/validate.ts';
import type { PodObject } from './pod-object.ts';
import { ephemeralContainers, resources } from './pods.subresources.ts';
import { pods } from './pods.ts';

// Messages are those of the reference server.
const context = { names: namesFor('k8s.io'), now: 0 };
const amounts = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } };
const container = { name: 'c', image: 'i', resources: amounts };

const stored = (spec: JsonObject = {}, more: JsonObject = {}): PodObject => {
  const pod = created(pods, { metadata: { resourceVersion: '1' }, spec: { containers: [container], ...spec } });
  return { ...pod, ...more, metadata: { ...pod.metadata, ...(more['metadata'] as object) } } as unknown as PodObject;
};

/** The errors of a subresource update. */
function errorsOf(part: typeof resources, old: PodObject, change: (spec: NonNullable<PodObject['spec']>) => void) {
  const copy = () => jsonCopy(old as unknown as Json) as unknown as PodObject;
  const [sent, object] = [copy(), copy()];
  change(sent.spec ?? {});
  part.apply(object, sent, context);
  const found = errorsNow(part.validate(object, old, context));
  return found.map(({ reason, field, message }): ReportedError => [reason.replace('FieldValue', ''), field, message]);
}

const give =
  (list: 'containers' | 'initContainers', more: JsonObject, at = 0) =>
  (spec: NonNullable<PodObject['spec']>) =>
    Object.assign(spec[list]?.[at] ?? {}, more);
const CPU_AND_MEMORY = 'Forbidden: only cpu and memory resources are mutable';
const sidecar = { ...container, name: 's', restartPolicy: 'Always' };

type Case = readonly [title: string, old: PodObject, change: Parameters<typeof errorsOf>[2], ...found: ReportedError[]];

describe('the resize of a pod', () => {
  const cases: readonly Case[] = [
    [
      'higher requests and limits',
      stored(),
      give('containers', { resources: { ...amounts, limits: { cpu: '3', memory: '3Gi' } } }),
    ],
    ['other changes are ignored', stored(), give('containers', { image: 'other' })],
    [
      'a removed request',
      stored(),
      give('containers', { resources: { ...amounts, requests: { cpu: '1' } } }),
      ['Forbidden', 'spec.containers[0].resources.requests', 'Forbidden: resource requests cannot be removed'],
    ],
    [
      'a resource that is not resizable',
      stored(),
      give('containers', { resources: { ...amounts, limits: { ...amounts.limits, 'ephemeral-storage': '1Gi' } } }),
      ['Forbidden', 'spec', CPU_AND_MEMORY],
    ],
    [
      'a changed resize policy',
      stored(),
      give('containers', { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] }),
      ['Forbidden', 'spec', CPU_AND_MEMORY],
    ],
    [
      'another QoS class',
      stored(),
      give('containers', { resources: { requests: amounts.limits, limits: amounts.limits } }),
      ['Invalid', 'spec', 'Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing'],
    ],
    [
      'another container name',
      stored(),
      give('containers', { name: 'd' }),
      ['Forbidden', 'spec.containers[0].name', 'Forbidden: containers may not be renamed or reordered on resize'],
    ],
    [
      'an added container',
      stored(),
      (spec) => spec.containers?.push({ ...container, name: 'd', terminationMessagePolicy: 'File' }),
      ['Forbidden', 'spec.containers', 'Forbidden: containers may not be added or removed on resize'],
    ],
    [
      'a sidecar',
      stored({ initContainers: [sidecar] }),
      give('initContainers', { resources: { ...amounts, limits: { cpu: '3', memory: '3Gi' } } }),
    ],
    [
      'an init container that would have to restart',
      stored({
        initContainers: [
          { ...container, name: 'i', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] },
        ],
      }),
      give('initContainers', { resources: { ...amounts, limits: { cpu: '3', memory: '3Gi' } } }),
      [
        'Forbidden',
        'spec.initContainers[0]',
        'Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized',
      ],
    ],
    [
      'a node that does not support it',
      stored({}, { status: { containerStatuses: [{ name: 'c', state: { running: {} } }] } }),
      give('containers', { resources: { ...amounts, limits: { cpu: '3', memory: '3Gi' } } }),
      ['Forbidden', 'spec', 'Forbidden: Pod running on node without support for resize'],
    ],
    [
      'a mirror pod',
      stored({ nodeName: 'n' }, { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }),
      give('containers', { resources: {} }),
      ['Forbidden', '[]', 'Forbidden: static pods cannot be resized'],
    ],
    [
      'a Windows pod',
      stored({ os: { name: 'windows' } }),
      give('containers', { resources: {} }),
      ['Forbidden', '[]', 'Forbidden: windows pods cannot be resized'],
    ],
    [
      'removed pod-level resources',
      stored({ resources: { limits: { cpu: '4' } } }),
      (spec) => delete spec.resources,
      ['Forbidden', 'spec.resources', 'Forbidden: pod-level resources cannot be removed'],
    ],
    [
      'a removed pod-level limit',
      stored({ resources: { limits: { cpu: '4', memory: '4Gi' } } }),
      (spec) => Object.assign(spec, { resources: { ...spec.resources, limits: { cpu: '4' } } }),
      ['Forbidden', 'spec.resources.limits', 'Forbidden: pod-level resource limits cannot be removed'],
    ],
  ];
  test.each(cases.map(([title, old, change, ...found]) => ({ title, old, change, found })))(
    '$title',
    ({ old, change, found }) => {
      expect(errorsOf(resources, old, change)).toEqual(found);
    },
  );
});

test('a mirror pod takes no ephemeral containers', () => {
  const old = stored({ nodeName: 'n' }, { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } });
  expect(errorsOf(ephemeralContainers, old, () => {})).toEqual([
    ['Forbidden', '[]', 'Forbidden: static pods do not support ephemeral containers'],
  ]);
});
