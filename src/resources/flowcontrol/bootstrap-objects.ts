/** The bootstrap priority levels and flow schemas. Two of each are mandatory: their specs are fixed. */
import { expandNamesIn, type JsonObject, type Names } from '../../meta/index.ts';

type Level = readonly [shares: number, lendable: number, queues?: number, hand?: number];

const levels: { readonly [name: string]: Level } = {
  'catch-all': [5, 0],
  system: [30, 33, 64, 6],
  'node-high': [40, 25, 64, 6],
  'leader-election': [10, 0, 16, 4],
  'workload-high': [40, 50, 128, 6],
  'workload-low': [100, 90, 128, 6],
  'global-default': [20, 50, 128, 6],
};
const QUEUE_LENGTH = 50;

const levelSpec = ([shares, lendablePercent, queues, handSize]: Level): JsonObject => ({
  type: 'Limited',
  limited: {
    nominalConcurrencyShares: shares,
    limitResponse:
      queues === undefined || handSize === undefined
        ? { type: 'Reject' }
        : { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: QUEUE_LENGTH } },
    lendablePercent,
  },
});

const exemptLevel: JsonObject = { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } };

const users = (...names: string[]): JsonObject[] => names.map((name) => ({ kind: 'User', user: { name } }));
const groups = (...names: string[]): JsonObject[] => names.map((name) => ({ kind: 'Group', group: { name } }));
const accounts = (...names: string[]): JsonObject[] =>
  names.map((name) => ({ kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name } }));

const everything: JsonObject = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const everyone = groups('system:unauthenticated', 'system:authenticated');
const electing = ['get', 'create', 'update'];
const leases: JsonObject = { apiGroups: ['coordination.{domain}'], resources: ['leases'], namespaces: ['*'] };

type Flow = readonly [
  level: string,
  precedence: number,
  method: 'ByUser' | 'ByNamespace' | undefined,
  subjects: JsonObject[],
  rules: JsonObject,
];

const flows: { readonly [name: string]: Flow } = {
  exempt: ['exempt', 1, undefined, groups('system:masters'), everything],
  probes: [
    'exempt',
    2,
    undefined,
    everyone,
    { nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }] },
  ],
  'system-leader-election': [
    'leader-election',
    100,
    'ByUser',
    [...users('system:kube-controller-manager', 'system:kube-scheduler'), ...accounts('*')],
    { resourceRules: [{ verbs: electing, ...leases }] },
  ],
  'system-node-high': [
    'node-high',
    400,
    'ByUser',
    groups('system:nodes'),
    {
      resourceRules: [
        { verbs: ['*'], apiGroups: [''], resources: ['nodes', 'nodes/status'], clusterScope: true, namespaces: ['*'] },
        { verbs: ['*'], ...leases },
      ],
    },
  ],
  'system-nodes': ['system', 500, 'ByUser', groups('system:nodes'), everything],
  'kube-controller-manager': ['workload-high', 800, 'ByNamespace', users('system:kube-controller-manager'), everything],
  'kube-scheduler': ['workload-high', 800, 'ByNamespace', users('system:kube-scheduler'), everything],
  'kube-system-service-accounts': ['workload-high', 900, 'ByNamespace', accounts('*'), everything],
  'service-accounts': ['workload-low', 9000, 'ByUser', groups('system:serviceaccounts'), everything],
  'global-default': ['global-default', 9900, 'ByUser', everyone, everything],
  'catch-all': ['catch-all', 10_000, 'ByUser', everyone, everything],
};

const flowSpec = ([level, matchingPrecedence, method, subjects, rules]: Flow): JsonObject => ({
  priorityLevelConfiguration: { name: level },
  matchingPrecedence,
  ...(method === undefined ? {} : { distinguisherMethod: { type: method } }),
  rules: [{ subjects, ...rules }],
});

/** The mandatory specs by name. */
export const mandatoryFlows = new Map(
  ['exempt', 'catch-all'].map((name) => [name, flowSpec(flows[name] as Flow)] as const),
);
export const mandatoryLevels = new Map([
  ['exempt', exemptLevel],
  ['catch-all', levelSpec(levels['catch-all'] as Level)],
]);

/** The annotation of objects whose spec the server keeps up to date. */
export const flowUpdateAnnotation = ({ labels }: Names): string => `apf.${labels}/autoupdate-spec`;

/** All bootstrap objects, ready to be created. */
export function bootstrapFlowObjects(names: Names) {
  const apiVersion = `flowcontrol.apiserver.${names.domain}/v1`;
  const annotations = { [flowUpdateAnnotation(names)]: 'true' };
  const make =
    (resource: string, kind: string) =>
    ([name, spec]: readonly [name: string, spec: JsonObject]) => {
      const fields = { spec: expandNamesIn(spec, names) };
      return { resource, apiVersion, kind, metadata: { name, annotations }, fields };
    };
  const limited = Object.entries(levels).map(([name, level]) => [name, levelSpec(level)] as const);
  const all = Object.entries(flows).map(([name, flow]) => [name, flowSpec(flow)] as const);
  return [
    ...[['exempt', exemptLevel] as const, ...limited].map(
      make('prioritylevelconfigurations', 'PriorityLevelConfiguration'),
    ),
    ...all.map(make('flowschemas', 'FlowSchema')),
  ];
}
