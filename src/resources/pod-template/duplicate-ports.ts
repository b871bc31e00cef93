import { warned } from '../../meta/index.ts';
import type { ContainerPort, PodSpec } from '../../types/core-v1.ts';
import { MAX_WARNINGS } from '../shared/field-rules.ts';
import { containersOf } from './annotations.ts';

/** Warnings for container ports that are defined more than once or overlap; `path` is that of the pod spec. */
export function duplicatePortWarnings(spec: PodSpec, path: string): string[] {
  const knownPorts = new KnownPorts();
  const warnings: string[] = [];
  for (const [place, { ports = [] }] of containersOf(spec, path)) {
    for (const [i, port] of warned(ports).entries()) {
      const at = `${place}.ports[${i}]`;
      const { name = '', containerPort = 0, hostPort = 0, protocol = '', hostIP = '' } = port;
      if (hostIP !== '' && hostPort === 0) {
        const portText = `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
        warnings.push(`${at}: hostIP set without hostPort: ${portText}`);
      }
      for (const other of knownPorts.clashingWith(port)) {
        if (warnings.length >= MAX_WARNINGS) return warnings;
        warnings.push(`${at}: ${clashOf(port, other.port)} port definition with ${other.at}`);
      }
      knownPorts.add(port, at);
    }
  }
  return warnings;
}

interface KnownPort {
  readonly at: string;
  readonly port: ContainerPort;
  readonly order: number;
}

/**
 * Ports seen so far, indexed so that the ports that conflict with another one are found without comparing all pairs.
 */
class KnownPorts {
  readonly #lists = new Map<string, KnownPort[]>();
  #count = 0;

  /** In the order in which they were added. */
  clashingWith(port: ContainerPort): readonly KnownPort[] {
    const { own, hostPort, hostIP } = placeOf(port);
    const of = (...steps: (string | number)[]) => this.#lists.get([own, ...steps].join('/')) ?? [];
    if (hostPort === 0) return of();
    const others = hostIP === '' ? of(hostPort) : [...of(hostPort, ''), ...of(hostPort, hostIP)];
    return [...of(0), ...others].sort((a, b) => a.order - b.order);
  }

  add(port: ContainerPort, at: string): void {
    const { own, hostPort, hostIP } = placeOf(port);
    const entry = { at, port, order: this.#count++ };
    for (const key of [own, `${own}/${hostPort}`, `${own}/${hostPort}/${hostIP}`]) {
      const list = this.#lists.get(key);
      if (list === undefined) this.#lists.set(key, [entry]);
      else list.push(entry);
    }
  }
}

const placeOf = ({ containerPort = 0, protocol = '', hostPort = 0, hostIP = '' }: ContainerPort) => ({
  own: `${containerPort}/${protocol}`,
  hostPort,
  hostIP,
});

/** Describes the conflict of two definitions of the same port. */
function clashOf(a: ContainerPort, b: ContainerPort): string {
  const [aPort, bPort] = [a.hostPort ?? 0, b.hostPort ?? 0];
  if ((a.hostIP ?? '') === (b.hostIP ?? '') && aPort === bPort) return 'duplicate';
  return aPort === 0 || bPort === 0 ? 'overlapping' : 'dangerously ambiguous';
}
