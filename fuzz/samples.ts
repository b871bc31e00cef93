import { writeProtobuf } from '../src/codec/index.ts';
import { expandNames, formatGroupVersion, type JsonObject } from '../src/meta/index.ts';
import type { ResourceDefinition } from '../src/registry/index.ts';
import { builtinResources } from '../src/resources/index.ts';
import { compile, type StructSchema } from '../src/schema/index.ts';
import { names } from './names.ts';

/** A valid object of a kind, and its path. */
export interface Sample {
  readonly apiVersion: string;
  readonly kind: string;
  /** In the namespace `default` if the kind is namespaced. */
  readonly collection: string;
  readonly object: JsonObject;
  readonly schema: StructSchema;
  readonly definition: ResourceDefinition;
}

const container = {
  name: 'c',
  image: 'example.com/i:1',
  ports: [{ containerPort: 80 }],
  env: [{ name: 'A', value: 'b' }],
};
const podSpec = { containers: [container], volumes: [{ name: 'v', emptyDir: {} }] };
const template = { metadata: { labels: { a: 'b' } }, spec: podSpec };
const selector = { matchLabels: { a: 'b' } };
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
const hook = {
  name: 'a.example.com',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  clientConfig: { url: 'https://h/' },
};
const clientRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIMk1JR2RBZ0VBTURzeEhUQWJCZ05WQkFvTUZITjVjM1JsYlRwaGRYUm9aVzUwYVdOaGRHVmtNUm93R0FZRApWUVFEREJGemVYTjBaVzA2WVc1dmJubHRiM1Z6TUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFCg==';

/** A minimal object of each kind, without its name; create-only kinds last. */
const bodies: { readonly [plural: string]: JsonObject } = {
  configmaps: { data: { a: 'b' }, binaryData: { c: 'ZA==' } },
  secrets: { type: 'Opaque', data: { a: 'Yg==' }, stringData: { c: 'd' } },
  pods: { spec: { ...podSpec, serviceAccountName: 'default' } },
  services: { spec: { selector: { a: 'b' }, ports: [{ port: 80, targetPort: 'http' }] } },
  endpoints: { subsets: [{ addresses: [{ ip: '10.1.0.1' }], ports: [{ port: 80 }] }] },
  namespaces: {},
  nodes: { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } },
  persistentvolumes: {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
  },
  persistentvolumeclaims: { spec: claim },
  replicationcontrollers: { spec: { selector: { a: 'b' }, template } },
  serviceaccounts: { secrets: [{ name: 'a' }] },
  limitranges: { spec: { limits: [{ type: 'Container', default: { cpu: '500m' }, max: { cpu: '1' } }] } },
  resourcequotas: { spec: { hard: { pods: '100', 'requests.cpu': '4' } } },
  podtemplates: { template },
  events: {
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
    reason: 'R',
    message: 'm',
    type: 'Normal',
  },
  'apps/deployments': { spec: { replicas: 2, selector, template, strategy: { rollingUpdate: { maxSurge: '25%' } } } },
  'apps/daemonsets': { spec: { selector, template } },
  'apps/statefulsets': {
    spec: { serviceName: 's', selector, template, volumeClaimTemplates: [{ metadata: { name: 'v' }, spec: claim }] },
  },
  'apps/replicasets': { spec: { selector, template } },
  'apps/controllerrevisions': { revision: 1, data: { a: { b: [1, { c: null }] } } },
  'batch/jobs': { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } },
  'batch/cronjobs': {
    spec: {
      schedule: '*/5 * * * *',
      jobTemplate: { spec: { template: { spec: { ...podSpec, restartPolicy: 'OnFailure' } } } },
    },
  },
  'autoscaling/horizontalpodautoscalers': {
    spec: {
      scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
      maxReplicas: 3,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
    },
  },
  'policy/poddisruptionbudgets': { spec: { minAvailable: '50%', selector } },
  'networking.{domain}/ingresses': {
    spec: {
      rules: [
        {
          host: 'a.b',
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
          },
        },
      ],
      tls: [{ hosts: ['a.b'], secretName: 't' }],
    },
  },
  'networking.{domain}/networkpolicies': {
    spec: {
      podSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
      ingress: [
        { from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }], ports: [{ port: 80, endPort: 90 }] },
      ],
    },
  },
  'networking.{domain}/ingressclasses': { spec: { controller: 'example.com/c' } },
  'discovery.{domain}/endpointslices': {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: true } }],
    ports: [{ name: 'h', port: 80 }],
  },
  'coordination.{domain}/leases': {
    spec: { holderIdentity: 'x', leaseDurationSeconds: 15, renewTime: '2024-01-01T00:00:00.000001Z' },
  },
  'events.{domain}/events': {
    regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
    reason: 'R',
    note: 'm',
    type: 'Normal',
    action: 'A',
    reportingController: 'example.com/c',
    reportingInstance: 'i',
    eventTime: '2024-01-01T00:00:00.000000Z',
  },
  'node.{domain}/runtimeclasses': { handler: 'runc', scheduling: { tolerations: [{ key: 'a', operator: 'Exists' }] } },
  'scheduling.{domain}/priorityclasses': { value: 100, description: 'd' },
  'storage.{domain}/storageclasses': { provisioner: 'example.com/p', parameters: { a: 'b' } },
  'storage.{domain}/csidrivers': { spec: { attachRequired: false } },
  'storage.{domain}/csinodes': { spec: { drivers: [{ name: 'd.example.com', nodeID: 'n' }] } },
  'storage.{domain}/csistoragecapacities': { storageClassName: 'sc', capacity: '1Gi', nodeTopology: selector },
  'storage.{domain}/volumeattachments': {
    spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } },
  },
  'rbac.authorization.{domain}/roles': { rules },
  'rbac.authorization.{domain}/rolebindings': {
    roleRef: { apiGroup: `rbac.authorization.${names.domain}`, kind: 'Role', name: 'r' },
    subjects: [{ kind: 'User', name: 'u' }],
  },
  'rbac.authorization.{domain}/clusterroles': { rules, aggregationRule: { clusterRoleSelectors: [selector] } },
  'rbac.authorization.{domain}/clusterrolebindings': {
    roleRef: { apiGroup: `rbac.authorization.${names.domain}`, kind: 'ClusterRole', name: 'r' },
    subjects: [{ kind: 'Group', name: 'g' }],
  },
  'admissionregistration.{domain}/validatingwebhookconfigurations': {
    webhooks: [
      {
        ...hook,
        rules: [{ apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['x'] }],
      },
    ],
  },
  'admissionregistration.{domain}/mutatingwebhookconfigurations': { webhooks: [hook] },
  'admissionregistration.{domain}/validatingadmissionpolicies': {
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['x'] },
        ],
      },
      validations: [{ expression: 'true' }],
    },
  },
  'apiextensions.{domain}/customresourcedefinitions': {
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object', properties: { a: { type: 'integer' } } } },
            },
          },
        },
      ],
    },
  },
  'apiregistration.{domain}/apiservices': {
    spec: {
      group: 'a.example.com',
      version: 'v1',
      groupPriorityMinimum: 1,
      versionPriority: 1,
      service: { name: 's', namespace: 'default' },
    },
  },
  'certificates.{domain}/certificatesigningrequests': {
    spec: { request: clientRequest, signerName: 'example.com/s', usages: ['client auth'] },
  },
  'flowcontrol.apiserver.{domain}/flowschemas': {
    spec: {
      priorityLevelConfiguration: { name: 'workload-low' },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'u' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
        },
      ],
    },
  },
  'flowcontrol.apiserver.{domain}/prioritylevelconfigurations': {
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
  },
  'authentication.{domain}/selfsubjectreviews': {},
  'authentication.{domain}/tokenreviews': { spec: { token: 'abc' } },
  'authorization.{domain}/selfsubjectaccessreviews': {
    spec: {
      resourceAttributes: {
        verb: 'list',
        resource: 'pods',
        namespace: 'default',
        fieldSelector: { rawSelector: 'metadata.name=a' },
        labelSelector: { requirements: [{ key: 'a', operator: 'In', values: ['b'] }] },
      },
    },
  },
  'authorization.{domain}/selfsubjectrulesreviews': { spec: { namespace: 'default' } },
  'authorization.{domain}/subjectaccessreviews': {
    spec: { user: 'u', groups: ['g'], nonResourceAttributes: { path: '/x', verb: 'get' } },
  },
};

/** The reviews that every user may create. */
const selfReviews = ['selfsubjectreviews', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews'];

/** One object of every kind. */
export const samples: readonly Sample[] = Object.entries(bodies).map(([key, body]) => {
  const slash = key.indexOf('/');
  const [group, plural] = [key.slice(0, Math.max(slash, 0)), key.slice(slash + 1)];
  const definition = builtinResources.find((one) => one.group === group && one.plural === plural);
  const [first] = definition?.versions ?? [];
  if (definition === undefined || first === undefined) throw new Error(`no kind ${key}`);
  const version = definition.versions.find((one) => one.version === definition.storage.version) ?? first;
  const { kind, namespaced } = definition;
  const apiVersion = formatGroupVersion({ group: expandNames(group, names), version: version.version });
  const root = group === '' ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
  return {
    apiVersion,
    kind,
    collection: `${root}${namespaced ? '/namespaces/default' : ''}/${plural}`,
    object: {
      apiVersion,
      kind,
      metadata: { name: nameOf(plural), ...(namespaced ? { namespace: 'default' } : {}) },
      ...body,
    },
    schema: version.schema,
    definition,
  };
});

/** The name of the sample; some kinds restrict the names of their objects. */
function nameOf(plural: string): string {
  if (plural === 'customresourcedefinitions') return 'things.example.com';
  return plural === 'apiservices' ? 'v1.a.example.com' : 'sample';
}

export const selfReviewSamples = samples.filter(({ collection }) =>
  selfReviews.some((plural) => collection.endsWith(`/${plural}`)),
);

/** The object of a sample, or another one of its kind in the canonical form of its schema, in protobuf. */
export function protobufOf({ schema, apiVersion, kind, object }: Sample): Uint8Array {
  return writeProtobuf(schema, { apiVersion, kind }, compile(schema, names).decode(object).value, names);
}
