/** Pods and services for tests of endpoints. */
import type { Pod } from '../shared/pods.ts';

export interface PodState {
  readonly ips?: readonly string[];
  readonly ready?: boolean;
  /** Since when it is ready or not, as a time of the API. */
  readonly since?: string;
  readonly phase?: string;
}

/** The status of a pod with these addresses. */
export const podStatus = ({ ips = [], ready = true, since = '2026-01-01T00:00:00Z', phase = 'Running' }: PodState) => ({
  phase,
  ...(ips[0] === undefined ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }),
  conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: since }],
});

/** A pod on the node `n1` with the label `app: web` and a port `http`. */
export const podNamed = (name: string, labels: { [key: string]: string } = { app: 'web' }, spec: Pod['spec'] = {}) => ({
  metadata: { namespace: 'default', name, labels },
  spec: {
    nodeName: 'n1',
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image: 'example.com/app:1', ports: [{ name: 'http', containerPort: 8080 }] }],
    ...spec,
  },
});
