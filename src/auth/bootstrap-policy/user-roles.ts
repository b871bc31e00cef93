/** Default cluster roles of people: of everyone, of administrators, and those that namespaces are shared with. */
import {
  allow,
  allowUrls,
  authentication,
  authorization,
  coordination,
  core,
  type DefaultRole,
  discovery,
  dynamicResources,
  events,
  groups,
  networking,
  rbac,
  read,
  readWrite,
  write,
} from './declare.ts';

/** May read the usage of nodes and pods, as everybody who may view pods. */
export const metricsReader: DefaultRole = {
  name: 'system:aggregated-metrics-reader',
  aggregateTo: 'view',
  rules: [allow(read, 'metrics.{domain}', 'nodes pods')],
};

export const userRoles: readonly DefaultRole[] = [
  {
    name: 'cluster-admin',
    rules: [allow('*', '*', '*'), allowUrls('*', '*')],
    boundTo: groups('system:masters'),
  },
  {
    name: 'system:discovery',
    rules: [
      allowUrls('get', '/livez /readyz /healthz /version /version/ /openapi /openapi/* /api /api/* /apis /apis/*'),
    ],
    boundTo: groups('system:authenticated'),
  },
  {
    name: 'system:basic-user',
    rules: [
      allow('create', authorization, 'selfsubjectaccessreviews selfsubjectrulesreviews'),
      allow('create', authentication, 'selfsubjectreviews'),
    ],
    boundTo: groups('system:authenticated'),
  },
  {
    name: 'system:public-info-viewer',
    rules: [allowUrls('get', '/livez /readyz /healthz /version /version/')],
    boundTo: groups('system:authenticated', 'system:unauthenticated'),
  },

  { name: 'admin', aggregates: 'admin' },
  { name: 'edit', aggregates: 'edit', aggregateTo: 'admin' },
  { name: 'view', aggregates: 'view', aggregateTo: 'edit' },
  {
    name: 'system:aggregate-to-admin',
    aggregateTo: 'admin',
    rules: [allow('create', authorization, 'localsubjectaccessreviews'), allow(readWrite, rbac, 'roles rolebindings')],
  },
  {
    name: 'system:aggregate-to-edit',
    aggregateTo: 'edit',
    rules: [
      // Reading these is more than viewing: credentials, and connections into containers.
      allow(read, core, 'pods/attach pods/proxy pods/exec pods/portforward secrets services/proxy'),
      allow('impersonate', core, 'serviceaccounts'),

      allow(write, core, 'pods pods/attach pods/proxy pods/exec pods/portforward'),
      allow('create', core, 'pods/eviction'),
      allow(
        write,
        core,
        'replicationcontrollers replicationcontrollers/scale serviceaccounts services services/proxy persistentvolumeclaims configmaps secrets',
      ),
      allow('create', core, 'serviceaccounts/token'),
      allow(write, [core, events], 'events'),
      allow(
        write,
        'apps',
        'statefulsets statefulsets/scale daemonsets deployments deployments/scale deployments/rollback replicasets replicasets/scale',
      ),
      allow(write, 'autoscaling', 'horizontalpodautoscalers'),
      allow(write, 'batch', 'jobs cronjobs'),
      allow(
        write,
        'extensions',
        'daemonsets deployments deployments/scale deployments/rollback ingresses replicasets replicasets/scale replicationcontrollers/scale networkpolicies',
      ),
      allow(write, 'policy', 'poddisruptionbudgets'),
      allow(write, networking, 'networkpolicies ingresses'),
      allow(readWrite, coordination, 'leases'),
      allow(write, dynamicResources, 'resourceclaims resourceclaimtemplates'),
    ],
  },
  {
    name: 'system:aggregate-to-view',
    aggregateTo: 'view',
    rules: [
      allow(
        read,
        core,
        'pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status endpoints persistentvolumeclaims persistentvolumeclaims/status configmaps',
      ),
      allow(
        read,
        core,
        'limitranges resourcequotas bindings pods/status resourcequotas/status namespaces/status replicationcontrollers/status pods/log',
      ),
      // Granted in a namespace, this is reading the namespace itself.
      allow(read, core, 'namespaces'),
      allow(read, [core, events], 'events'),
      allow(read, discovery, 'endpointslices'),
      allow(
        read,
        'apps',
        'controllerrevisions statefulsets statefulsets/status statefulsets/scale daemonsets daemonsets/status deployments deployments/status deployments/scale replicasets replicasets/status replicasets/scale',
      ),
      allow(read, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
      allow(read, 'batch', 'jobs cronjobs cronjobs/status jobs/status'),
      allow(
        read,
        'extensions',
        'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status replicasets replicasets/scale replicasets/status replicationcontrollers/scale networkpolicies',
      ),
      allow(read, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
      allow(read, networking, 'networkpolicies ingresses ingresses/status'),
      allow(read, dynamicResources, 'resourceclaims resourceclaims/status resourceclaimtemplates'),
    ],
  },
];
