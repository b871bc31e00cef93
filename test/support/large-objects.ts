import type { JsonObject } from '../../src/meta/index.ts';

/** Objects of a kind of which one field holds any number of entries, all of them as the rules of the kind want them. */
export interface Growing {
  /** Kind and field. */
  readonly name: string;
  /** Where they are created. */
  readonly url: string;
  readonly make: (count: number) => JsonObject;
  /** The field is a part of the status: it is written to an object that is there, made with no entries. */
  readonly inStatus: boolean;
}

const list = <T>(count: number, entry: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => entry(i));
const map = <T>(count: number, value: T, key = short): { [key: string]: T } =>
  Object.fromEntries(list(count, (i) => [key(i), value]));

const short = (i: number): string => `k${i.toString(36)}`;
const amountName = (i: number): string => `example.com/r${i.toString(36)}`;
const ip = (i: number): string => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
const port = (i: number): number => 1 + (i % 65_535);
const named = (i: number) => ({ name: short(i) });
const exists = (i: number) => ({ key: short(i), operator: 'Exists' });
const condition = (i: number) => ({
  type: short(i),
  status: 'True',
  reason: 'R',
  message: '',
  lastTransitionTime: time,
});

const time = '2024-01-01T00:00:00Z';
const container = { name: 'c', image: 'i' };
const labels = { a: 'b' };
const selector = { matchLabels: labels };
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const rule = { apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['x'] };
const url = 'https://127.0.0.1:1/x';
const webhook = {
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  failurePolicy: 'Ignore',
  clientConfig: { url },
};
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'x' };

type Rows = { readonly [field: string]: (count: number) => JsonObject };
type Kind = readonly [apiVersion: string, plural: string, kind: string, fields: Rows];

const pod = (spec: JsonObject) => ({ spec: { containers: [container], ...spec } });
const inContainer = (part: JsonObject, spec: JsonObject = {}) =>
  pod({ containers: [{ ...container, ...part }], ...spec });
const volume = (source: JsonObject) => pod({ volumes: [{ name: 'v', ...source }] });
const affinity = (kind: string, term: JsonObject) =>
  pod({ affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: term } } });
const ofNodes = (terms: JsonObject[]) => affinity('nodeAffinity', { nodeSelectorTerms: terms });

const pods: Rows = {
  'initContainers and their sidecars': (n) =>
    pod({
      initContainers: list(n, (i) => ({
        name: `i${i}`,
        image: 'i',
        ...(i % 2 === 0 ? { restartPolicy: 'Always', resources: { limits: { [amountName(i)]: '1' } } } : {}),
      })),
    }),
  containers: (n) => pod({ containers: list(n, (i) => ({ name: `c${i}`, image: 'i' })) }),
  'containers[].command': (n) => inContainer({ command: list(n, short) }),
  'containers[].ports': (n) => inContainer({ ports: list(n, (i) => ({ containerPort: port(i) })) }),
  'containers[].ports that clash': (n) =>
    inContainer({ ports: list(n, (i) => ({ name: `p${i}`, containerPort: 80 })) }),
  'containers[].ports of one number on addresses of their own': (n) =>
    inContainer({ ports: list(n, (i) => ({ name: `p${i}`, containerPort: 80, hostPort: 80, hostIP: ip(i) })) }),
  'containers[].env': (n) => inContainer({ env: list(n, named) }),
  'containers[].env that repeats': (n) => inContainer({ env: list(n, (i) => ({ name: short(i % 2) })) }),
  'containers[].envFrom': (n) => inContainer({ envFrom: list(n, (i) => ({ configMapRef: named(i) })) }),
  'containers[].volumeMounts': (n) =>
    inContainer(
      { volumeMounts: list(n, (i) => ({ name: 'v', mountPath: `/${i}` })) },
      { volumes: [{ name: 'v', emptyDir: {} }] },
    ),
  'containers[].volumeDevices': (n) =>
    inContainer(
      {
        volumeMounts: list(n, (i) => ({ name: 'v', mountPath: `/m${i}` })),
        volumeDevices: list(n, (i) => ({ name: short(i), devicePath: `/d${i}` })),
      },
      {
        volumes: [
          { name: 'v', emptyDir: {} },
          ...list(n, (i) => ({ name: short(i), persistentVolumeClaim: { claimName: 'x' } })),
        ],
      },
    ),
  'containers[].resources.limits': (n) => inContainer({ resources: { limits: map(n, '1', amountName) } }),
  'containers[].resources.claims': (n) =>
    inContainer(
      { resources: { claims: list(n, (i) => ({ name: 'c', request: short(i) })) } },
      { resourceClaims: [{ name: 'c', resourceClaimName: 'x' }] },
    ),
  'containers[].securityContext.capabilities.add': (n) =>
    inContainer({ securityContext: { capabilities: { add: list(n, short) } } }),
  'containers[].livenessProbe.httpGet.httpHeaders': (n) =>
    inContainer({
      livenessProbe: { httpGet: { port: 80, httpHeaders: list(n, (i) => ({ name: short(i), value: '' })) } },
    }),
  volumes: (n) => pod({ volumes: list(n, (i) => ({ name: short(i), emptyDir: {} })) }),
  'volumes[].secret.items': (n) =>
    volume({ secret: { secretName: 's', items: list(n, (i) => ({ key: short(i), path: short(i) })) } }),
  'volumes[].secret.items that overlap': (n) =>
    volume({ secret: { secretName: 's', items: list(n, (i) => ({ key: short(i), path: 'p' })) } }),
  'volumes[].downwardAPI.items': (n) =>
    volume({ downwardAPI: { items: list(n, (i) => ({ path: short(i), fieldRef: { fieldPath: 'metadata.name' } })) } }),
  'volumes[].projected.sources': (n) =>
    volume({
      projected: {
        sources: list(n, (i) => ({ secret: { name: short(i), items: [{ key: 'k', path: short(i) }] } })),
      },
    }),
  'volumes[].fc.wwids': (n) => volume({ fc: { wwids: list(n, short) } }),
  'volumes[].csi.volumeAttributes': (n) => volume({ csi: { driver: 'd.x', volumeAttributes: map(n, '') } }),
  'volumes[].ephemeral': (n) =>
    volume({ ephemeral: { volumeClaimTemplate: { metadata: { labels: map(n, '') }, spec: claim } } }),
  nodeSelector: (n) => pod({ nodeSelector: map(n, '') }),
  'securityContext.supplementalGroups': (n) => pod({ securityContext: { supplementalGroups: list(n, (i) => i) } }),
  'securityContext.sysctls': (n) =>
    pod({ securityContext: { sysctls: list(n, (i) => ({ name: `kernel.${short(i)}`, value: '' })) } }),
  imagePullSecrets: (n) => pod({ imagePullSecrets: list(n, named) }),
  'affinity.nodeAffinity terms': (n) => ofNodes(list(n, () => ({ matchExpressions: [exists(0)] }))),
  'affinity.nodeAffinity expressions': (n) => ofNodes([{ matchExpressions: list(n, exists) }]),
  'affinity.podAffinity terms': (n) =>
    pod({
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: list(n, () => ({
            topologyKey: 'a',
            labelSelector: selector,
          })),
        },
      },
    }),
  tolerations: (n) => pod({ tolerations: list(n, exists) }),
  hostAliases: (n) => pod({ hostAliases: list(n, (i) => ({ ip: ip(i), hostnames: ['a'] })) }),
  'hostAliases[].hostnames': (n) => pod({ hostAliases: [{ ip: ip(1), hostnames: list(n, short) }] }),
  'dnsConfig.options': (n) => pod({ dnsConfig: { options: list(n, named) } }),
  readinessGates: (n) => pod({ readinessGates: list(n, (i) => ({ conditionType: short(i) })) }),
  schedulingGates: (n) => pod({ schedulingGates: list(n, named) }),
  topologySpreadConstraints: (n) =>
    pod({
      topologySpreadConstraints: list(n, (i) => ({
        topologyKey: short(i),
        maxSkew: 1,
        whenUnsatisfiable: 'DoNotSchedule',
      })),
    }),
  'topologySpreadConstraints[].matchLabelKeys': (n) =>
    pod({
      topologySpreadConstraints: [
        {
          topologyKey: 'a',
          maxSkew: 1,
          whenUnsatisfiable: 'DoNotSchedule',
          matchLabelKeys: list(n, short),
          labelSelector: { matchExpressions: list(n, (i) => ({ key: `x${i}`, operator: 'Exists' })) },
        },
      ],
    }),
  resourceClaims: (n) => pod({ resourceClaims: list(n, (i) => ({ name: short(i), resourceClaimName: 'a' })) }),
  'status.conditions': (n) => ({ ...pod({}), status: { conditions: list(n, condition) } }),
  'status.containerStatuses': (n) => ({
    ...pod({}),
    status: {
      containerStatuses: list(n, (i) => ({
        name: short(i),
        image: '',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { terminated: { exitCode: 0 } },
      })),
    },
  }),
  'status.resourceClaimStatuses': (n) => ({
    ...pod({ resourceClaims: list(n, (i) => ({ name: short(i), resourceClaimName: 'a' })) }),
    status: { resourceClaimStatuses: list(n, named) },
  }),
};

const template = (part: JsonObject = {}) => ({ metadata: { labels }, spec: { containers: [container], ...part } });
const workload = (part: JsonObject) => ({ spec: { selector, template: template(), ...part } });
const limits = (part: JsonObject) => ({ spec: { limits: [{ type: 'Container', ...part }] } });

const core: readonly Kind[] = [
  ['v1', 'pods', 'Pod', pods],
  [
    'v1',
    'configmaps',
    'ConfigMap',
    {
      data: (n) => ({ data: map(n, '') }),
      binaryData: (n) => ({ binaryData: map(n, 'AA==') }),
      'metadata.labels': (n) => ({ metadata: { labels: map(n, '') } }),
      'metadata.annotations': (n) => ({ metadata: { annotations: map(n, '') } }),
      'metadata.finalizers': (n) => ({ metadata: { finalizers: list(n, (i) => `a.b/${i}`) } }),
      'metadata.ownerReferences': (n) => ({
        metadata: { ownerReferences: list(n, (i) => ({ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: `u${i}` })) },
      }),
    },
  ],
  ['v1', 'secrets', 'Secret', { data: (n) => ({ data: map(n, '') }), stringData: (n) => ({ stringData: map(n, '') }) }],
  [
    'v1',
    'serviceaccounts',
    'ServiceAccount',
    {
      secrets: (n) => ({ secrets: list(n, named) }),
      imagePullSecrets: (n) => ({ imagePullSecrets: list(n, named) }),
    },
  ],
  [
    'v1',
    'endpoints',
    'Endpoints',
    {
      subsets: (n) => ({ subsets: list(n, (i) => ({ addresses: [{ ip: ip(1) }], ports: [{ port: port(i) }] })) }),
      'subsets[].addresses': (n) => ({ subsets: [{ addresses: list(n, (i) => ({ ip: ip(i + 1) })) }] }),
      'subsets[].ports': (n) => ({
        subsets: [{ addresses: [{ ip: ip(1) }], ports: list(n, (i) => ({ name: short(i), port: port(i) })) }],
      }),
    },
  ],
  [
    'v1',
    'services',
    'Service',
    {
      'spec.ports': (n) => ({ spec: { ports: list(n, (i) => ({ name: `p${i}`, port: port(i) })) } }),
      'spec.ports of a balancer': (n) => ({
        spec: {
          type: 'LoadBalancer',
          allocateLoadBalancerNodePorts: false,
          ports: list(n, (i) => ({ name: `p${i}`, port: port(i) })),
        },
      }),
      'spec.selector': (n) => ({ spec: { ports: [{ port: 80 }], selector: map(n, '') } }),
      'spec.externalIPs': (n) => ({ spec: { ports: [{ port: 80 }], externalIPs: list(n, (i) => ip(i + 1)) } }),
      'spec.loadBalancerSourceRanges': (n) => ({
        spec: { type: 'LoadBalancer', ports: [{ port: 80 }], loadBalancerSourceRanges: list(n, (i) => `${ip(i)}/32`) },
      }),
      'status.loadBalancer.ingress': (n) => ({
        spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
        status: { loadBalancer: { ingress: list(n, (i) => ({ ip: ip(i + 1) })) } },
      }),
    },
  ],
  [
    'v1',
    'limitranges',
    'LimitRange',
    {
      'spec.limits': (n) => ({
        spec: { limits: list(n, (i) => ({ type: `example.com/t${i}`, max: { cpu: '1' } })) },
      }),
      'spec.limits[].max': (n) => limits({ max: map(n, '1', amountName) }),
      'spec.limits[].defaultRequest': (n) => limits({ defaultRequest: map(n, '1', amountName) }),
    },
  ],
  [
    'v1',
    'resourcequotas',
    'ResourceQuota',
    {
      'spec.hard': (n) => ({ spec: { hard: map(n, '1', (i) => `requests.example.com/r${i}`) } }),
      'spec.scopes': (n) => ({
        spec: { hard: { pods: '1' }, scopes: list(n, (i) => (i % 2 === 0 ? 'Terminating' : 'PriorityClass')) },
      }),
      'spec.scopeSelector': (n) => ({
        spec: {
          hard: { pods: '1' },
          scopeSelector: { matchExpressions: list(n, () => ({ scopeName: 'PriorityClass', operator: 'Exists' })) },
        },
      }),
    },
  ],
  [
    'v1',
    'persistentvolumeclaims',
    'PersistentVolumeClaim',
    {
      'spec.accessModes': (n) => ({ spec: { ...claim, accessModes: list(n, () => 'ReadWriteOnce') } }),
      'spec.selector': (n) => ({
        spec: { ...claim, selector: { matchLabels: map(n, ''), matchExpressions: list(n, exists) } },
      }),
      'spec.resources.limits': (n) => ({
        spec: { ...claim, resources: { ...claim.resources, limits: map(n, '1', amountName) } },
      }),
    },
  ],
];

const workloads: readonly Kind[] = [
  [
    'apps/v1',
    'deployments',
    'Deployment',
    {
      'spec.selector.matchLabels': (n) => ({
        spec: {
          selector: { matchLabels: map(n, '') },
          template: { metadata: { labels: map(n, '') }, spec: { containers: [container] } },
        },
      }),
      'spec.template env': (n) =>
        workload({ template: template({ containers: [{ ...container, env: list(n, named) }] }) }),
      'spec.template volumes': (n) =>
        workload({ template: template({ volumes: list(n, (i) => ({ name: short(i), emptyDir: {} })) }) }),
    },
  ],
  [
    'apps/v1',
    'statefulsets',
    'StatefulSet',
    {
      'spec.volumeClaimTemplates': (n) =>
        workload({
          serviceName: 's',
          template: template({ volumes: list(n, (i) => ({ name: short(i), emptyDir: {} })) }),
          volumeClaimTemplates: list(n, (i) => ({ metadata: named(i), spec: claim })),
        }),
    },
  ],
  [
    'batch/v1',
    'jobs',
    'Job',
    {
      'spec.template tolerations': (n) => ({
        spec: { template: { spec: { ...template().spec, restartPolicy: 'Never', tolerations: list(n, exists) } } },
      }),
    },
  ],
  [
    'autoscaling/v2',
    'horizontalpodautoscalers',
    'HorizontalPodAutoscaler',
    {
      'spec.metrics': (n) => ({
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
          maxReplicas: 3,
          metrics: list(n, () => ({
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
          })),
        },
      }),
    },
  ],
  [
    'policy/v1',
    'poddisruptionbudgets',
    'PodDisruptionBudget',
    { 'spec.selector': (n) => ({ spec: { minAvailable: 1, selector: { matchExpressions: list(n, exists) } } }) },
  ],
];

const networking: readonly Kind[] = [
  [
    'networking.k8s.io/v1',
    'ingresses',
    'Ingress',
    {
      'spec.rules': (n) => ({ spec: { rules: list(n, (i) => ({ host: `${short(i)}.b` })) } }),
      'spec.tls': (n) => ({
        spec: { rules: [{ host: 'a.b' }], tls: list(n, (i) => ({ hosts: [`${short(i)}.b`], secretName: 's' })) },
      }),
    },
  ],
  [
    'networking.k8s.io/v1',
    'networkpolicies',
    'NetworkPolicy',
    {
      'spec.ingress': (n) => ({ spec: { podSelector: {}, ingress: list(n, (i) => ({ ports: [{ port: port(i) }] })) } }),
      'spec.egress[].to': (n) => ({
        spec: { podSelector: {}, egress: [{ to: list(n, (i) => ({ ipBlock: { cidr: `${ip(i)}/32` } })) }] },
      }),
    },
  ],
  [
    'discovery.k8s.io/v1',
    'endpointslices',
    'EndpointSlice',
    {
      ports: (n) => ({
        addressType: 'IPv4',
        endpoints: list(Math.min(n, 1000), (i) => ({ addresses: [ip(i + 1)] })),
        ports: list(n, (i) => ({ name: short(i), port: port(i) })),
      }),
    },
  ],
];

const cluster: readonly Kind[] = [
  [
    'v1',
    'nodes',
    'Node',
    {
      'spec.taints': (n) => ({ spec: { taints: list(n, (i) => ({ key: short(i), effect: 'NoSchedule' })) } }),
      'status.addresses': (n) => ({ status: { addresses: list(n, (i) => ({ type: 'InternalIP', address: ip(i) })) } }),
      'status.images': (n) => ({ status: { images: list(n, (i) => ({ names: [short(i)] })) } }),
      'status.capacity': (n) => ({ status: { capacity: map(n, '1', amountName) } }),
    },
  ],
  [
    'rbac.authorization.k8s.io/v1',
    'clusterroles',
    'ClusterRole',
    {
      rules: (n) => ({ rules: list(n, (i) => ({ verbs: ['get'], apiGroups: [''], resources: [short(i)] })) }),
      aggregationRule: (n) => ({
        aggregationRule: { clusterRoleSelectors: list(n, (i) => ({ matchLabels: { a: short(i) } })) },
      }),
    },
  ],
  [
    'rbac.authorization.k8s.io/v1',
    'clusterrolebindings',
    'ClusterRoleBinding',
    {
      subjects: (n) => ({
        roleRef,
        subjects: list(n, (i) => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: short(i) })),
      }),
    },
  ],
  [
    'storage.k8s.io/v1',
    'csinodes',
    'CSINode',
    {
      'spec.drivers': (n) => ({ spec: { drivers: list(n, (i) => ({ name: short(i), nodeID: 'n' })) } }),
      'spec.drivers[].topologyKeys': (n) => ({
        spec: { drivers: [{ name: 'd', nodeID: 'n', topologyKeys: list(n, short) }] },
      }),
    },
  ],
  [
    'storage.k8s.io/v1',
    'storageclasses',
    'StorageClass',
    {
      parameters: (n) => ({ provisioner: 'example.com/p', parameters: map(n, '') }),
      allowedTopologies: (n) => ({
        provisioner: 'example.com/p',
        allowedTopologies: list(n, (i) => ({ matchLabelExpressions: [{ key: 'a', values: [short(i)] }] })),
      }),
    },
  ],
  [
    'admissionregistration.k8s.io/v1',
    'validatingwebhookconfigurations',
    'ValidatingWebhookConfiguration',
    {
      webhooks: (n) => ({ webhooks: list(n, (i) => ({ ...webhook, name: `a${i}.example.com`, rules: [rule] })) }),
      'webhooks[].rules': (n) => ({ webhooks: [{ ...webhook, name: 'a.example.com', rules: list(n, () => rule) }] }),
      'webhooks[].admissionReviewVersions': (n) => ({
        webhooks: [{ ...webhook, name: 'a.example.com', admissionReviewVersions: list(n, (i) => `v${i + 1}`) }],
      }),
    },
  ],
  [
    'admissionregistration.k8s.io/v1',
    'validatingadmissionpolicies',
    'ValidatingAdmissionPolicy',
    {
      'spec.variables': (n) => ({
        spec: {
          matchConstraints: { resourceRules: [rule] },
          validations: list(n, () => ({ expression: 'true' })),
          variables: list(n, (i) => ({ name: short(i), expression: 'true' })),
        },
      }),
    },
  ],
  [
    'flowcontrol.apiserver.k8s.io/v1',
    'flowschemas',
    'FlowSchema',
    {
      'spec.rules': (n) => ({
        spec: {
          priorityLevelConfiguration: { name: 'workload-low' },
          rules: list(n, (i) => ({
            subjects: [{ kind: 'User', user: named(i) }],
            nonResourceRules: [{ verbs: ['get'], nonResourceURLs: [`/${i}`] }],
          })),
        },
      }),
    },
  ],
];

const definition = (schema: JsonObject, part: JsonObject = {}) => ({
  metadata: { name: 'growings.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'growings', kind: 'Growing' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', ...schema } } }],
    ...part,
  },
});

const definitions: readonly Kind[] = [
  [
    'apiextensions.k8s.io/v1',
    'customresourcedefinitions',
    'CustomResourceDefinition',
    {
      // At most 100, of 1,600 entries.
      'spec.versions': (n) =>
        definition(
          {},
          {
            versions: list(Math.ceil(n / 16), (i) => ({
              name: `v${i + 1}`,
              served: true,
              storage: i === 0,
              schema: { openAPIV3Schema: { type: 'object' } },
            })),
          },
        ),
      properties: (n) => definition({ properties: map(n, { type: 'string' }) }),
      'keys of a list': (n) =>
        definition({
          properties: {
            list: {
              type: 'array',
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': list(n, short),
              items: { type: 'object', properties: map(n, { type: 'string' }), required: list(n, short) },
            },
          },
        }),
    },
  ],
];

/** The namespace of those that are in one. */
export const growingNamespace = 'growing';

const clusterScoped = new Set([...cluster, ...definitions].map(([, plural]) => plural));

function growing([apiVersion, plural, kind, fields]: Kind): Growing[] {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const place = clusterScoped.has(plural) ? '' : `/namespaces/${growingNamespace}`;
  return Object.entries(fields).map(([field, make]) => ({
    name: `${kind} ${field}`,
    url: `${root}${place}/${plural}`,
    inStatus: field.startsWith('status.'),
    make: (count) => {
      const { metadata = {}, ...rest } = make(count);
      return { apiVersion, kind, metadata: { name: 'growing', ...(metadata as JsonObject) }, ...rest };
    },
  }));
}

export const growingObjects: readonly Growing[] = [
  ...core,
  ...workloads,
  ...networking,
  ...cluster,
  ...definitions,
].flatMap(growing);
