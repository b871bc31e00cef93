import { describe, expect, test } from 'vitest';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import { names as namesOf, type ReportedError, validateOnUpdate } from '../pod-template/testing/validate.ts';
import { keepObservedGenerations, podStatusWarnings } from './pods.status-validation.ts';
import { pods } from './pods.ts';
import { validateEphemeralContainersUpdate } from './pods.update-validation.ts';

// Fields and texts are those of the reference server.
const pod = (spec: JsonObject = {}): JsonObject => ({
  metadata: { annotations: { 'kubernetes.io/config.mirror': 'm' } },
  spec: { containers: [{ name: 'c', image: 'i' }], nodeName: 'n', serviceAccountName: 's', ...spec },
});

interface Changing {
  metadata: { annotations: { [key: string]: string }; ownerReferences?: unknown };
  spec: { [field: string]: unknown; containers: { [field: string]: unknown }[] };
  status: { [field: string]: unknown };
}

/** The errors of an update of a pod. */
const change = (before: JsonObject, how: (pod: Changing) => void): ReportedError[] =>
  validateOnUpdate(pods, before, (object: ApiObject) => how(object as unknown as Changing));

const fixed =
  'Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n';

describe('allowed updates', () => {
  test.each<{ title: string; before?: JsonObject; how: (pod: Changing) => void }>([
    { title: 'an image', how: ({ spec }) => Object.assign(spec.containers[0] as object, { image: 'j' }) },
    { title: 'a new activeDeadlineSeconds', how: ({ spec }) => Object.assign(spec, { activeDeadlineSeconds: 5 }) },
    {
      title: 'a lower activeDeadlineSeconds',
      before: { activeDeadlineSeconds: 9 },
      how: ({ spec }) => Object.assign(spec, { activeDeadlineSeconds: 5 }),
    },
    {
      title: 'an added toleration',
      before: { tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 }] },
      how: ({ spec }) =>
        Object.assign(spec, {
          tolerations: [
            { key: 'b', operator: 'Exists' },
            { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 2 },
          ],
        }),
    },
    {
      title: 'a negative grace period to 1',
      before: { terminationGracePeriodSeconds: -1 },
      how: ({ spec }) => Object.assign(spec, { terminationGracePeriodSeconds: 1 }),
    },
    {
      title: 'a removed gate, and a more restrictive node affinity',
      before: { nodeName: '', schedulingGates: [{ name: 'a' }, { name: 'b' }], nodeSelector: { x: '1' } },
      how: ({ spec }) => Object.assign(spec, { schedulingGates: [{ name: 'b' }], nodeSelector: { x: '1', y: '2' } }),
    },
  ])('$title', ({ before = {}, how }) => {
    const { metadata: _, ...made } = pod(before);
    expect(change(made, how)).toEqual([]);
  });
});

describe('rejected updates', () => {
  test.each<{ title: string; before?: JsonObject; how: (pod: Changing) => void; found: ReportedError[] }>([
    {
      title: 'containers added or removed',
      how: ({ spec }) => spec.containers.push({ name: 'd', image: 'i' }),
      found: [['Forbidden', 'spec.containers', 'Forbidden: pod updates may not add or remove containers']],
    },
    {
      title: 'a higher activeDeadlineSeconds',
      before: { activeDeadlineSeconds: 5 },
      how: ({ spec }) => Object.assign(spec, { activeDeadlineSeconds: 6 }),
      found: [
        ['Invalid', 'spec.activeDeadlineSeconds', 'Invalid value: 6: must be less than or equal to previous value'],
      ],
    },
    {
      title: 'activeDeadlineSeconds removed',
      before: { activeDeadlineSeconds: 5 },
      how: ({ spec }) => delete spec['activeDeadlineSeconds'],
      found: [
        [
          'Invalid',
          'spec.activeDeadlineSeconds',
          'Invalid value: null: must not update from a positive integer to nil value',
        ],
      ],
    },
    {
      title: 'a removed toleration',
      before: { tolerations: [{ key: 'a', operator: 'Exists' }] },
      how: ({ spec }) => delete spec['tolerations'],
      found: [
        [
          'Forbidden',
          'spec.tolerations',
          'Forbidden: existing toleration can not be modified except its tolerationSeconds',
        ],
      ],
    },
    {
      title: 'an added gate',
      how: ({ spec }) => Object.assign(spec, { nodeName: 'n', schedulingGates: [{ name: 'g' }] }),
      found: [
        [
          'Forbidden',
          'spec.schedulingGates[0].name',
          "Forbidden: only deletion is allowed, but found new scheduling gate 'g'",
        ],
      ],
    },
    {
      title: 'another nodeName',
      how: ({ spec }) => Object.assign(spec, { nodeName: 'other' }),
      found: [
        [
          'Forbidden',
          'spec',
          `${fixed}@@ -42,7 +42,7 @@\n  "NodeSelector": null,\n  "ServiceAccountName": "s",\n  "AutomountServiceAccountToken": null,\n- "NodeName": "n",\n+ "NodeName": "other",\n  "SecurityContext": {\n   "HostNetwork": false,\n   "HostPID": false,\n`,
        ],
      ],
    },
    {
      title: 'environment variables',
      how: ({ spec }) => Object.assign(spec.containers[0] as object, { env: [{ name: 'A', value: '1' }] }),
      found: [
        [
          'Forbidden',
          'spec',
          `${fixed}@@ -10,7 +10,13 @@\n    "WorkingDir": "",\n    "Ports": null,\n    "EnvFrom": null,\n-   "Env": null,\n+   "Env": [\n+    {\n+     "Name": "A",\n+     "Value": "1",\n+     "ValueFrom": null\n+    }\n+   ],\n    "Resources": {\n     "Limits": null,\n     "Requests": null,\n`,
        ],
      ],
    },
    {
      title: 'a less restrictive node affinity with gates',
      before: { nodeName: '', schedulingGates: [{ name: 'a' }], nodeSelector: { x: '1' } },
      how: ({ spec }) => Object.assign(spec, { nodeSelector: { x: '2' } }),
      found: [
        [
          'Invalid',
          'spec.nodeSelector',
          'Invalid value: {"x":"2"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
        ],
      ],
    },
  ])('$title', ({ before = {}, how, found }) => {
    const { metadata: _, ...made } = pod(before);
    expect(change(made, how)).toEqual(found);
  });

  test('the mirror pod annotation', () => {
    const found = change(pod(), ({ metadata }) => {
      metadata.annotations = {};
    });
    const field = 'metadata.annotations[kubernetes.io/config.mirror]';
    expect(found).toEqual([['Forbidden', field, 'Forbidden: may not remove or update mirror pod annotation']]);
  });
});

describe('status', () => {
  const running = { name: 'c', state: { running: {} } };
  test.each<{ title: string; how: (pod: Changing) => void; found: ReportedError[] }>([
    {
      title: 'another QoS class',
      how: ({ status }) => Object.assign(status, { qosClass: 'Guaranteed' }),
      found: [['Invalid', 'status.qosClass', 'Invalid value: "Guaranteed": field is immutable']],
    },
    {
      title: 'two pod IPs of one family',
      how: ({ status }) => Object.assign(status, { podIP: '1.1.1.1', podIPs: [{ ip: '1.1.1.1' }, { ip: '1.1.1.2' }] }),
      found: [
        [
          'Invalid',
          'status.podIPs',
          'Invalid value: [{"IP":"1.1.1.1"},{"IP":"1.1.1.2"}]: may specify no more than one IP for each IP family',
        ],
      ],
    },
    {
      title: 'host IPs that differ from hostIP',
      how: ({ status }) => Object.assign(status, { hostIP: '1.1.1.1', hostIPs: [{ ip: '1.1.1.2' }] }),
      found: [['Invalid', 'status.hostIPs[0].ip', 'Invalid value: "1.1.1.2": must be equal to `hostIP`']],
    },
    {
      title: 'an invalid condition type',
      how: ({ status }) =>
        Object.assign(status, {
          conditions: [
            { type: 'Ready', status: 'True' },
            { type: 'a/b/c', status: 'True' },
          ],
        }),
      found: [
        [
          'Invalid',
          'status.conditions[1].Type',
          "Invalid value: \"a/b/c\": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        ],
      ],
    },
    {
      title: 'the status of an unknown resource claim',
      how: ({ status }) => Object.assign(status, { resourceClaimStatuses: [{ name: 'x' }] }),
      found: [
        [
          'Invalid',
          'status.resourceClaimStatuses[0].name',
          'Invalid value: "x": must match the name of an entry in `spec.resourceClaims`',
        ],
      ],
    },
    {
      title: 'invalid user and group IDs',
      how: ({ status }) =>
        Object.assign(status, {
          containerStatuses: [{ name: 'c', user: { linux: { uid: -1, gid: 0, supplementalGroups: [2 ** 31] } } }],
        }),
      found: [
        ['uid', -1],
        ['supplementalGroups[0]', 2 ** 31],
      ].map(([field, id]) => [
        'Invalid',
        `status.containerStatuses[0].user.linux.${field}`,
        `Invalid value: ${id}: must be between 0 and 2147483647, inclusive`,
      ]),
    },
    {
      title: 'negative observedGeneration',
      how: ({ status }) =>
        Object.assign(status, { observedGeneration: -1, conditions: [{ type: 'Ready', observedGeneration: -2 }] }),
      found: [
        ['Invalid', 'status.conditions[0].observedGeneration', 'Invalid value: -2: must be a non-negative integer'],
        ['Invalid', 'status.observedGeneration', 'Invalid value: -1: must be a non-negative integer'],
      ],
    },
    {
      title: 'the health of unrequested resources, and of a duplicate device',
      how: ({ status }) =>
        Object.assign(status, {
          containerStatuses: [
            {
              name: 'c',
              allocatedResourcesStatus: [
                { name: 'a.b/c', resources: [{ resourceID: 'x', health: 'Fine' }, { resourceID: 'x' }] },
                { name: 'claim:d' },
              ],
            },
            { name: 'gone', allocatedResourcesStatus: [{ name: 'a.b/c' }] },
          ],
          ephemeralContainerStatuses: [{ name: 'e', allocatedResourcesStatus: [{ name: 'a.b/c' }] }],
        }),
      found: [
        [
          'Invalid',
          'status.containerStatuses[0].allocatedResourcesStatus[0].name',
          'Invalid value: "a.b/c": must match one of the container\'s resource requests',
        ],
        [
          'NotSupported',
          'status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health',
          'Unsupported value: "Fine": supported values: "Healthy", "Unhealthy", "Unknown"',
        ],
        [
          'NotSupported',
          'status.containerStatuses[0].allocatedResourcesStatus[0].resources[1].health',
          'Unsupported value: "": supported values: "Healthy", "Unhealthy", "Unknown"',
        ],
        [
          'Duplicate',
          'status.containerStatuses[0].allocatedResourcesStatus[0].resources[1].resourceID',
          'Duplicate value: "x"',
        ],
        [
          'Invalid',
          'status.containerStatuses[0].allocatedResourcesStatus[1].name',
          "Invalid value: \"claim:d\": must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
        ],
        [
          'Forbidden',
          'status.ephemeralContainerStatuses[0].allocatedResourcesStatus',
          'Forbidden: must not be specified in container status',
        ],
      ],
    },
    {
      title: 'a terminated container that runs',
      how: ({ status }) => Object.assign(status, { containerStatuses: [running] }),
      found: [],
    },
  ])('$title', ({ how, found }) => {
    const { metadata: _, ...made } = pod();
    expect(change(made, how)).toEqual(found);
  });

  test('non-canonical IPs have a warning', () => {
    const status = { podIPs: [{ ip: '10.0.0.1' }, { ip: 'FD00::1' }], hostIPs: [{ ip: 'fd00::2' }] };
    expect(podStatusWarnings(status, namesOf)).toEqual([
      'status.podIPs[1].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
    ]);
  });

  test('observedGeneration is kept, condition by condition', () => {
    const status = { conditions: [{ type: 'Ready' }, { type: 'Ready' }, { type: 'New' }] };
    keepObservedGenerations(status, {
      observedGeneration: 3,
      conditions: [
        { type: 'Ready', observedGeneration: 2 },
        { type: 'Ready', observedGeneration: 1 },
      ],
    });
    expect(status).toEqual({
      observedGeneration: 3,
      conditions: [{ type: 'Ready', observedGeneration: 2 }, { type: 'Ready', observedGeneration: 1 }, { type: 'New' }],
    });
  });

  test('podIP alone becomes the first of podIPs', () => {
    const status: JsonObject = { podIP: '10.1.1.1' };
    pods.strategy.defaults?.({ kind: 'Pod', apiVersion: 'v1', metadata: {}, status }, { names: namesOf, now: 0 });
    expect(status).toEqual({ podIP: '10.1.1.1', podIPs: [{ ip: '10.1.1.1' }] });
  });
});

describe('ephemeral containers', () => {
  const one = { name: 'e', image: 'i' };
  test('are immutable once added', () => {
    const path = 'spec.ephemeralContainers';
    expect(validateEphemeralContainersUpdate({}, { ephemeralContainers: [one] })).toEqual([
      {
        reason: 'FieldValueForbidden',
        field: path,
        message: 'Forbidden: existing ephemeral containers "e" may not be removed\n',
      },
    ]);
    expect(
      validateEphemeralContainersUpdate({ ephemeralContainers: [one, { name: 'f' }] }, { ephemeralContainers: [one] }),
    ).toEqual([]);
  });
});
