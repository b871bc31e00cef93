import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContainerPort } from '../../types/core-v1.ts';
import { MAX_WARNINGS } from '../shared/field-rules.ts';
import { duplicatePortWarnings } from './duplicate-ports.ts';

const spec = (ports: ContainerPort[]) => ({ containers: [{ name: 'c', ports }] });

/** Compares each port with all earlier ones. */
function expected(ports: readonly ContainerPort[]): string[] {
  return ports.flatMap((port, i) =>
    ports.slice(0, i).flatMap((other, j) => {
      if (port.containerPort !== other.containerPort || port.protocol !== other.protocol) return [];
      const [aIp = '', bIp = ''] = [port.hostIP, other.hostIP];
      const [aPort, bPort] = [port.hostPort ?? 0, other.hostPort ?? 0];
      const how =
        aIp === bIp && aPort === bPort
          ? 'duplicate'
          : aPort === 0 || bPort === 0
            ? 'overlapping'
            : aPort === bPort && (aIp === '') !== (bIp === '')
              ? 'dangerously ambiguous'
              : undefined;
      return how === undefined
        ? []
        : [`spec.containers[0].ports[${i}]: ${how} port definition with spec.containers[0].ports[${j}]`];
    }),
  );
}

describe('duplicatePortWarnings', () => {
  it('finds the same conflicts as a comparison of all pairs, in the same order', () => {
    const port: fc.Arbitrary<ContainerPort> = fc.record({
      containerPort: fc.constantFrom(80, 81),
      protocol: fc.constantFrom('TCP', 'UDP'),
      hostPort: fc.constantFrom(0, 80, 81),
      hostIP: fc.constantFrom('', '10.0.0.1', '10.0.0.2'),
    });
    fc.assert(
      fc.property(fc.array(port, { maxLength: 10 }), (ports) => {
        const clashes = duplicatePortWarnings(spec(ports), 'spec').filter((text) => !text.includes('without hostPort'));
        expect(clashes).toEqual(expected(ports));
      }),
      { numRuns: 1000 },
    );
  });

  it('limits the number of warnings', () => {
    const same = Array.from({ length: 20_000 }, () => ({ containerPort: 80, protocol: 'TCP' }));
    expect(duplicatePortWarnings(spec(same), 'spec')).toHaveLength(MAX_WARNINGS);
  });
});
