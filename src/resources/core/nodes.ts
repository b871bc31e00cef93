import type { ObjectOf } from '../../schema/index.ts';
import { Node } from '../../types/core-v1.ts';
import { age, name, orNone, orUnknown } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { defaultAllocatable, syncPodCidrs } from './nodes.defaults.ts';
import { nodeWarnings, validateNode, validateNodeAnnotations, validateNodeUpdate } from './nodes.validation.ts';
import { proxyNode } from './proxy.ts';

type NodeObject = ObjectOf<typeof Node>;

export const nodes = resource({
  group: '',
  plural: 'nodes',
  kind: 'Node',
  schema: Node,
  lifecycle: { introduced: '1.0' },
  shortNames: ['no'],
  namespaced: false,
  status: true,
  subresources: [
    {
      name: 'proxy',
      type: 'connect',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
      kind: 'NodeProxyOptions',
      connect: proxyNode,
    },
  ],
  columns: [
    name,
    ['Status', status],
    ['Roles', (node, { names }) => roles(node, names.labels)],
    age,
    ['Version', ({ status }) => status?.nodeInfo?.kubeletVersion ?? ''],
    ['Internal-IP', (node) => orNone(address(node, 'InternalIP')), 'wide'],
    ['External-IP', (node) => orNone(address(node, 'ExternalIP')), 'wide'],
    ['OS-Image', ({ status }) => orUnknown(status?.nodeInfo?.osImage), 'wide'],
    ['Kernel-Version', ({ status }) => orUnknown(status?.nodeInfo?.kernelVersion), 'wide'],
    ['Container-Runtime', ({ status }) => orUnknown(status?.nodeInfo?.containerRuntimeVersion), 'wide'],
  ],
  selectableFields: [{ path: 'spec.unschedulable', value: ({ spec }) => String(spec?.unschedulable ?? false) }],
  strategy: {
    createsWithStatus: true,
    defaults: ({ spec, status }) => {
      syncPodCidrs(spec);
      defaultAllocatable(status);
    },
    // Dynamic kubelet configuration is removed: the fields are dropped unless the old object has them.
    prepareCreate: ({ spec, status }) => {
      delete spec?.configSource;
      delete status?.config;
    },
    prepareUpdate: ({ spec }, old) => {
      if (old.spec?.configSource === undefined) delete spec?.configSource;
    },
    prepareStatusUpdate: ({ status }, old) => {
      if (old.status?.config === undefined) delete status?.config;
    },
    validate: ({ metadata, spec = {}, status = {} }, { names }) => [
      ...validateNodeAnnotations(metadata.annotations ?? {}, names),
      ...validateNode(spec, status, names),
    ],
    // As in the reference server, errors of annotations and taints are reported twice.
    validateUpdate: ({ metadata, spec = {}, status = {} }, old, { names }) => [
      ...validateNodeAnnotations(metadata.annotations ?? {}, names),
      ...validateNodeUpdate(spec, status, old.spec ?? {}),
    ],
    warnings: ({ spec = {} }, _, { names }) => nodeWarnings(spec, names),
  },
});

function status({ spec, status }: NodeObject): string {
  const ready = status?.conditions?.find((condition) => condition.type === 'Ready');
  const words = [ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'];
  if (spec?.unschedulable === true) words.push('SchedulingDisabled');
  return words.join(',');
}

/** Roles from the labels `node-role.<labels>/<role>` and `<labels>/role: <role>`. */
function roles({ metadata }: NodeObject, domain: string): string {
  const roleNames = new Set<string>();
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    const prefix = `node-role.${domain}/`;
    if (key.startsWith(prefix) && key.length > prefix.length) roleNames.add(key.slice(prefix.length));
    else if (key === `${domain}/role` && value !== '') roleNames.add(value);
  }
  return roleNames.size === 0 ? '<none>' : [...roleNames].sort().join(',');
}

const address = ({ status }: NodeObject, type: string): string | undefined =>
  status?.addresses?.find((candidate) => candidate.type === type)?.address;
