/** Default roles in the system namespace and in the public one. */
import {
  allow,
  coordination,
  core,
  type DefaultNamespacedRole,
  read,
  reportEvents,
  serviceAccounts,
  users,
} from './declare.ts';

/** Leader election of a component. */
const leaderLocking = (component: string): DefaultNamespacedRole => ({
  namespace: 'system',
  name: `system::leader-locking-${component}`,
  rules: [
    allow('get watch list create update', coordination, 'leases'),
    allow('get watch list create update', coordination, 'leasecandidates'),
  ],
  boundTo: [...users(`system:${component}`), ...serviceAccounts(component)],
});

export const namespacedRoles: readonly DefaultNamespacedRole[] = [
  {
    namespace: 'system',
    name: 'extension-apiserver-authentication-reader',
    rules: [allow(read, core, 'configmaps', 'extension-apiserver-authentication')],
    binding: 'system::extension-apiserver-authentication-reader',
    boundTo: users('system:kube-controller-manager', 'system:kube-scheduler'),
  },
  leaderLocking('kube-controller-manager'),
  leaderLocking('kube-scheduler'),
  {
    namespace: 'system',
    name: 'system:controller:bootstrap-signer',
    rules: [allow(read, core, 'secrets')],
    boundTo: serviceAccounts('bootstrap-signer'),
  },
  {
    namespace: 'public',
    name: 'system:controller:bootstrap-signer',
    rules: [allow(read, core, 'configmaps'), allow('update', core, 'configmaps', 'cluster-info'), reportEvents],
    boundTo: serviceAccounts('bootstrap-signer'),
  },
  {
    namespace: 'system',
    name: 'system:controller:cloud-provider',
    rules: [allow('create get list watch', core, 'configmaps')],
    boundTo: serviceAccounts('cloud-provider'),
  },
  {
    namespace: 'system',
    name: 'system:controller:token-cleaner',
    rules: [allow('get list watch delete', core, 'secrets'), reportEvents],
    boundTo: serviceAccounts('token-cleaner'),
  },
];
