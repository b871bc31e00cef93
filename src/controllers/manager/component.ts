/** The name of the process that runs controllers: of its user, its lease, its user agent and so of its field manager. */
export const componentName = 'kube-controller-manager';
