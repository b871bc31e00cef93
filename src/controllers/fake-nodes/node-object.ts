/** The node of a fake kubelet. */
import { isIPv4 } from 'node:net';
import { formatTime, type Names } from '../../meta/index.ts';
import type { NodeObject } from './objects.ts';

/** How many fake nodes there may be: those that have an address range for their pods. */
export const maxFakeNodes = 1_000;

const prefix = 'fake-node-';
const capacity = { cpu: '32', memory: '256Gi', 'ephemeral-storage': '1Ti', 'hugepages-2Mi': '0', pods: '110' };
const architecture = 'amd64';
const operatingSystem = 'linux';

export const fakeNodeName = (index: number): string => `${prefix}${index}`;

/** The index of a fake node; undefined: it is none of these. */
export function fakeNodeIndex(name: string, count: number): number | undefined {
  if (!name.startsWith(prefix)) return undefined;
  const index = Number(name.slice(prefix.length));
  return Number.isInteger(index) && index >= 0 && index < count && fakeNodeName(index) === name ? index : undefined;
}

/** The address of a node, of the range for tests of network devices, which is routed nowhere. */
export const nodeAddress = (index: number): string => `198.18.${(index + 1) >> 8}.${(index + 1) & 255}`;

const podNetwork = (index: number): string => `10.${244 + (index >> 8)}.${index & 255}`;

/** The addresses that pods of a node can have are this many. */
export const podAddresses = 254;

/** The address of a pod on the node, from 0 on. */
export const podAddress = (index: number, pod: number): string => `${podNetwork(index)}.${pod + 1}`;

/** Whether the host is a fake node, or the address of one or of a pod on one. */
export function isFakeHost(host: string, count: number): boolean {
  if (fakeNodeIndex(host, count) !== undefined) return true;
  const [a = 0, b = 0, c = 0, d = 0] = isIPv4(host) ? host.split('.').map(Number) : [];
  if (a === 198 && b === 18) return (c << 8) + d >= 1 && (c << 8) + d <= count;
  return a === 10 && b >= 244 && ((b - 244) << 8) + c < count;
}

type NodeStatus = NonNullable<NodeObject['status']>;

/** The conditions of a node that is well. A condition that was so before keeps the time of its last change. */
export function nodeConditions(node: NodeObject | undefined, now: number): NonNullable<NodeStatus['conditions']> {
  const states = [
    ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
    ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
    ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
    ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
  ] as const;
  const time = formatTime(now);
  return states.map(([type, status, reason, message]) => {
    const before = node?.status?.conditions?.find((one) => one.type === type);
    const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? time) : time;
    return { type, status, lastHeartbeatTime: time, lastTransitionTime, reason, message };
  });
}

/** The node as its kubelet registers it. */
export function nodeObject(index: number, version: string, { labels }: Names, now: number): NodeObject {
  const name = fakeNodeName(index);
  const podCIDR = `${podNetwork(index)}.0/24`;
  return {
    metadata: {
      name,
      labels: {
        [`beta.${labels}/arch`]: architecture,
        [`beta.${labels}/os`]: operatingSystem,
        [`${labels}/arch`]: architecture,
        [`${labels}/hostname`]: name,
        [`${labels}/os`]: operatingSystem,
      },
    },
    spec: { podCIDR, podCIDRs: [podCIDR] },
    status: {
      capacity,
      allocatable: capacity,
      conditions: nodeConditions(undefined, now),
      addresses: [
        { type: 'InternalIP', address: nodeAddress(index) },
        { type: 'Hostname', address: name },
      ],
      nodeInfo: {
        machineID: name,
        systemUUID: name,
        bootID: name,
        kernelVersion: 'fake',
        osImage: 'fake',
        containerRuntimeVersion: 'fake://1',
        kubeletVersion: version,
        kubeProxyVersion: '',
        operatingSystem,
        architecture,
      },
    },
  };
}
