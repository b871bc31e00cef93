import type { JsonObject, Names } from '../../meta/index.ts';

/** An object of the demo, and the plural name of its resource. */
export interface DemoObject {
  readonly resource: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: { [key: string]: string };
  };
  readonly fields?: JsonObject;
}

/** The namespace of the demo. */
export const demoNamespace = 'demo';
/** The group of its custom type. */
const demoGroup = 'demo.example.com';

/** The objects of the demo in the order in which they are applied. */
export function demoObjects(names: Names): readonly DemoObject[] {
  return [
    { resource: 'namespaces', apiVersion: 'v1', kind: 'Namespace', metadata: { name: demoNamespace } },
    bookingDefinition(names),
    binding(names, 'ClusterRoleBinding', 'demo:visitors', 'view'),
    ...[
      ...policy(names),
      ...workloads(names),
      booking('ada', { room: 'attic', nights: 2 }),
      booking('grace', { room: 'garden', nights: 14, paid: true }),
    ].map((object) => ({ ...object, metadata: { ...object.metadata, namespace: demoNamespace } })),
  ];
}

/** Binds a default role to the account `visitor`, whose token signs in to the console. */
const binding = ({ domain }: Names, kind: string, name: string, role: string): DemoObject => ({
  resource: `${kind.toLowerCase()}s`,
  apiVersion: `rbac.authorization.${domain}/v1`,
  kind,
  metadata: { name },
  fields: {
    roleRef: { apiGroup: `rbac.authorization.${domain}`, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: 'visitor', namespace: demoNamespace }],
  },
});

/** The quota, limits, accounts, role and bindings of the namespace. */
const policy = (names: Names): DemoObject[] => [
  {
    resource: 'resourcequotas',
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'demo' },
    fields: { spec: { hard: { pods: '30', 'requests.cpu': '4', services: '5' } } },
  },
  {
    resource: 'limitranges',
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'demo' },
    fields: { spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '100m' } }] } },
  },
  { resource: 'serviceaccounts', apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } },
  { resource: 'serviceaccounts', apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'visitor' } },
  binding(names, 'RoleBinding', 'visitors', 'admin'),
  {
    resource: 'roles',
    apiVersion: `rbac.authorization.${names.domain}/v1`,
    kind: 'Role',
    metadata: { name: 'reader' },
    fields: { rules: [{ apiGroups: ['', 'apps', demoGroup], resources: ['*'], verbs: ['get', 'list', 'watch'] }] },
  },
  {
    resource: 'rolebindings',
    apiVersion: `rbac.authorization.${names.domain}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'readers' },
    fields: {
      roleRef: { apiGroup: `rbac.authorization.${names.domain}`, kind: 'Role', name: 'reader' },
      subjects: [{ apiGroup: `rbac.authorization.${names.domain}`, kind: 'User', name: 'jane' }],
    },
  },
];

/** The workloads; annotations of their pods tell the fake nodes how they run. */
function workloads(names: Names): DemoObject[] {
  const podsOf = (
    app: string,
    annotations: { readonly [name: string]: string },
    spec: JsonObject = {},
  ): JsonObject => ({
    metadata: {
      labels: { app },
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([name, value]) => [`fake-nodes.${names.labels}/${name}`, value]),
      ),
    },
    // A controller creates the account `default` later.
    spec: { ...spec, serviceAccountName: 'robot', containers: [{ name: 'main', image: `example.com/${app}:1` }] },
  });
  const labels = { app: 'web' };
  const selector = { matchLabels: labels };
  const runs = { restartPolicy: 'Never' };
  return [
    {
      resource: 'configmaps',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', labels },
      fields: { data: { colour: 'green' } },
    },
    {
      resource: 'deployments',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', labels },
      fields: {
        spec: {
          replicas: 3,
          selector,
          template: podsOf('web', { 'ready-delay': '2s' }),
        },
      },
    },
    {
      resource: 'services',
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', labels },
      fields: { spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] } },
    },
    {
      resource: 'poddisruptionbudgets',
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', labels },
      fields: { spec: { minAvailable: 2, selector } },
    },
    {
      resource: 'jobs',
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'report' },
      fields: {
        spec: { completions: 4, parallelism: 2, template: podsOf('report', { 'run-time': '5s' }, runs) },
      },
    },
    {
      resource: 'jobs',
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'broken' },
      fields: { spec: { backoffLimit: 1, template: podsOf('broken', { 'exit-code': '3' }, runs) } },
    },
    {
      resource: 'cronjobs',
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'tidy' },
      fields: {
        spec: {
          schedule: '* * * * *',
          successfulJobsHistoryLimit: 2,
          jobTemplate: { spec: { template: podsOf('tidy', { 'run-time': '3s' }, runs) } },
        },
      },
    },
  ];
}

const bookingDefinition = ({ domain, extension }: Names): DemoObject => ({
  resource: 'customresourcedefinitions',
  apiVersion: `apiextensions.${domain}/v1`,
  kind: 'CustomResourceDefinition',
  metadata: { name: `bookings.${demoGroup}` },
  fields: {
    spec: {
      group: demoGroup,
      scope: 'Namespaced',
      names: { plural: 'bookings', singular: 'booking', kind: 'Booking', shortNames: ['bk'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: bookingSchema(extension) },
          additionalPrinterColumns: [
            { name: 'Room', type: 'string', jsonPath: '.spec.room' },
            { name: 'Nights', type: 'integer', jsonPath: '.spec.nights' },
            { name: 'Paid', type: 'boolean', jsonPath: '.spec.paid' },
          ],
        },
      ],
    },
  },
});

const bookingSchema = (extension: string): JsonObject => ({
  type: 'object',
  description: 'A booking of a room.',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['room', 'nights'],
      properties: {
        room: { type: 'string', enum: ['attic', 'garden', 'tower'], description: 'The room.' },
        nights: { type: 'integer', minimum: 1, description: 'How many nights the room is taken for.' },
        paid: { type: 'boolean', default: false, description: 'Whether it has been paid.' },
      },
      [`${extension}validations`]: [
        { rule: 'self.nights <= 7 || self.paid', message: 'more than a week is paid before' },
      ],
    },
  },
});

const booking = (name: string, spec: JsonObject): DemoObject => ({
  resource: 'bookings',
  apiVersion: `${demoGroup}/v1`,
  kind: 'Booking',
  metadata: { name },
  fields: { spec },
});
