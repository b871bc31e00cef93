import { describe, expect, it } from 'vitest';
import { namesFor } from '../../meta/index.ts';
import { referencesOf, selectionsOf } from './references.ts';

const names = namesFor('k8s.io');
const shown = (object: Parameters<typeof referencesOf>[0]) =>
  referencesOf(object, names).map(
    ({ field, group, kind, namespace, name }) => `${field}: ${kind}.${group} ${namespace}/${name}`,
  );

describe('the references of an object', () => {
  const spec = {
    nodeName: 'node-1',
    serviceAccountName: 'web',
    priorityClassName: 'high',
    volumes: [
      { name: 'a', configMap: { name: 'settings' } },
      { name: 'b', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'c', projected: { sources: [{ secret: { name: 'keys' } }] } },
    ],
    containers: [
      {
        name: 'web',
        env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'a' } } }],
        envFrom: [{ secretRef: { name: 'passwords' } }],
      },
    ],
  };
  const expected = (at: string) => [
    `${at}.nodeName: Node. demo/node-1`,
    `${at}.serviceAccountName: ServiceAccount. demo/web`,
    `${at}.priorityClassName: PriorityClass.scheduling.k8s.io demo/high`,
    `${at}.volumes[0].configMap.name: ConfigMap. demo/settings`,
    `${at}.volumes[1].persistentVolumeClaim.claimName: PersistentVolumeClaim. demo/data`,
    `${at}.volumes[2].projected.sources[0].secret.name: Secret. demo/keys`,
    `${at}.containers[0].envFrom[0].secretRef.name: Secret. demo/passwords`,
  ];

  it('are those of its pod specification, each target once', () => {
    const metadata = { name: 'web', namespace: 'demo' };
    expect(shown({ kind: 'Pod', metadata, spec })).toEqual(expected('spec'));
    expect(shown({ kind: 'Rollout', metadata, spec: { template: { spec } } })).toEqual(expected('spec.template.spec'));
  });

  it('are those that name their kind, with its group and namespace', () => {
    expect(
      shown({
        kind: 'RoleBinding',
        metadata: { namespace: 'demo' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
        subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'other' }],
      }),
    ).toEqual(['roleRef: ClusterRole.rbac.authorization.k8s.io demo/view', 'subjects[0]: ServiceAccount. other/robot']);
    const involvedObject = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'demo', name: 'web' };
    expect(shown({ kind: 'Event', metadata: { namespace: 'demo' }, involvedObject })).toEqual([
      'involvedObject: Deployment.apps demo/web',
    ]);
  });

  it('are none where fields have other types', () => {
    expect(shown({ kind: 'Pod', spec: { nodeName: 3, volumes: {}, containers: [null, 'x'] } })).toEqual([]);
    expect(shown({ kind: 'Event', involvedObject: { kind: 1 } })).toEqual([]);
  });
});

describe('the selections of a label selector', () => {
  it('are by its labels and by its expressions', () => {
    const matchExpressions = [
      { key: 'tier', operator: 'NotIn', values: ['back', 'none'] },
      { key: 'canary', operator: 'DoesNotExist' },
      { key: 'owner', operator: 'Exists' },
    ];
    const selector = { matchLabels: { app: 'web' }, matchExpressions };
    const budget = { kind: 'PodDisruptionBudget', metadata: { name: 'web' }, spec: { selector } };
    expect(selectionsOf(budget, names)).toEqual([
      {
        field: 'spec.selector',
        group: '',
        kind: 'Pod',
        labelSelector: 'app=web,tier notin (back,none),!canary,owner',
      },
    ]);
  });
});

describe('the selections of a service', () => {
  it('are its pods and its endpoint slices', () => {
    const service = { kind: 'Service', metadata: { name: 'web' }, spec: { selector: { app: 'web', tier: 'front' } } };
    expect(selectionsOf(service, names)).toEqual([
      { field: 'spec.selector', group: '', kind: 'Pod', labelSelector: 'app=web,tier=front' },
      {
        field: 'metadata.name',
        group: 'discovery.k8s.io',
        kind: 'EndpointSlice',
        labelSelector: 'kubernetes.io/service-name=web',
      },
    ]);
  });

  it('are not all pods when it has no selector', () => {
    const service = { kind: 'Service', metadata: { name: 'web' }, spec: { selector: {} } };
    expect(selectionsOf(service, names).map(({ kind }) => kind)).toEqual(['EndpointSlice']);
  });
});
