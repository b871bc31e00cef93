import { describe, expect, it } from 'vitest';
import { type PodState, podNamed, podStatus } from '../testing/served-pods.ts';
import type { Service } from './services.ts';
import { repack, type Subset, subsetsOf, truncate } from './subsets.ts';

const service = (spec: Service['spec'] = {}): Service => ({
  metadata: { namespace: 'default', name: 'web' },
  spec: {
    clusterIP: '10.0.0.1',
    ipFamilies: ['IPv4'],
    ports: [{ port: 80, protocol: 'TCP', targetPort: 'http' }],
    ...spec,
  },
});
const pod = (name: string, state: PodState, { metadata = {}, spec = {} } = {}) => {
  const base = podNamed(name, undefined, spec);
  return { ...base, metadata: { ...base.metadata, uid: `uid-${name}`, ...metadata }, status: podStatus(state) };
};
const address = (name: string, ip: string, more = {}) => ({
  ip,
  ...more,
  nodeName: 'n1',
  targetRef: { kind: 'Pod', namespace: 'default', name, uid: `uid-${name}` },
});
const http = { port: 8080, protocol: 'TCP' };

describe('the subsets of a service', () => {
  it('have ready and other addresses in the order of the addresses', () => {
    const pods = [
      pod('b', { ips: ['10.1.0.2'] }),
      pod('a', { ips: ['10.1.0.1'] }),
      pod('c', { ips: ['10.1.0.3'], ready: false }),
    ];
    expect(subsetsOf(service(), pods)).toEqual([
      {
        addresses: [address('a', '10.1.0.1'), address('b', '10.1.0.2')],
        notReadyAddresses: [address('c', '10.1.0.3')],
        ports: [http],
      },
    ]);
  });

  const deleted = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } };
  it.each([
    ['has no address', pod('a', {})],
    ['has failed', pod('a', { ips: ['10.1.0.1'], phase: 'Failed' })],
    ['has succeeded', pod('a', { ips: ['10.1.0.1'], phase: 'Succeeded' })],
    ['is being deleted', pod('a', { ips: ['10.1.0.1'] }, deleted)],
    ['has no address of the family', pod('a', { ips: ['fd00::1'] })],
    ['has no port of the name', pod('a', { ips: ['10.1.0.1'] }, { spec: { containers: [{ name: 'c' }] } })],
  ])('have no pod that %s', (_, one) => {
    expect(subsetsOf(service(), [one])).toEqual([]);
  });

  it('have unready pods and those that are being deleted as ready, if the service publishes them', () => {
    const pods = [
      pod('a', { ips: ['10.1.0.1'], ready: false }),
      pod('b', { ips: ['10.1.0.2'], ready: false }, deleted),
    ];
    expect(subsetsOf(service({ publishNotReadyAddresses: true }), pods)).toEqual([
      { addresses: [address('a', '10.1.0.1'), address('b', '10.1.0.2')], ports: [http] },
    ]);
  });

  it('have the address of the first family of the service', () => {
    const pods = [pod('a', { ips: ['10.1.0.1', 'FD00:0::1'] })];
    const first = (families: string[]) => subsetsOf(service({ ipFamilies: families }), pods)[0]?.addresses?.[0]?.ip;
    expect([first(['IPv4', 'IPv6']), first(['IPv6', 'IPv4'])]).toEqual(['10.1.0.1', 'fd00::1']);
    const unknown = { clusterIP: 'fd00::a', ipFamilies: [] };
    expect(subsetsOf(service(unknown), pods)[0]?.addresses?.[0]?.ip).toBe('fd00::1');
  });

  it('have host names of pods of the same subdomain', () => {
    const podWithSubdomain = (subdomain: string) =>
      pod('a', { ips: ['10.1.0.1'] }, { spec: { hostname: 'h', subdomain } });
    expect(subsetsOf(service(), [podWithSubdomain('web')])[0]?.addresses).toEqual([
      address('a', '10.1.0.1', { hostname: 'h' }),
    ]);
    expect(subsetsOf(service(), [podWithSubdomain('other')])[0]?.addresses).toEqual([address('a', '10.1.0.1')]);
  });

  it('are one for each target of a named port, which a sidecar may have', () => {
    const ports = (containerPort: number) => [{ name: 'http', containerPort, protocol: 'TCP' }];
    const sidecar = [{ name: 's', restartPolicy: 'Always', ports: ports(9000) }];
    const once = [{ name: 'i', ports: ports(7000) }];
    const pods = [
      pod('a', { ips: ['10.1.0.1'] }),
      pod('b', { ips: ['10.1.0.2'] }, { spec: { containers: [{ name: 'c' }], initContainers: [...once, ...sidecar] } }),
    ];
    expect(
      subsetsOf(service(), pods).map(({ addresses, ports: subsetPorts }) => [
        addresses?.[0]?.ip,
        subsetPorts?.[0]?.port,
      ]),
    ).toEqual([
      ['10.1.0.1', 8080],
      ['10.1.0.2', 9000],
    ]);
  });

  it('have all ports with the same addresses together, in the order of their hashes', () => {
    const ports = [
      { name: 'raw', port: 81, protocol: 'TCP', targetPort: 9000 },
      { name: 'http', port: 80, protocol: 'TCP', targetPort: 'http' },
      { name: 'admin', port: 82, protocol: 'TCP', targetPort: 9001, appProtocol: 'h2' },
    ];
    expect(subsetsOf(service({ ports }), [pod('a', { ips: ['10.1.0.1'] })])).toHaveLength(1);
    expect(subsetsOf(service({ ports }), [pod('a', { ips: ['10.1.0.1'] })])[0]?.ports).toEqual([
      { name: 'http', port: 8080, protocol: 'TCP' },
      { name: 'raw', port: 9000, protocol: 'TCP' },
      { name: 'admin', port: 9001, protocol: 'TCP', appProtocol: 'h2' },
    ]);
  });

  it('have no ports for a headless service without ports, and are none for another one', () => {
    const pods = [pod('a', { ips: ['10.1.0.1'] }), pod('b', { ips: ['10.1.0.2'], ready: false })];
    expect(subsetsOf(service({ clusterIP: 'None', ports: [] }), pods)).toEqual([
      { addresses: [address('a', '10.1.0.1')], notReadyAddresses: [address('b', '10.1.0.2')] },
    ]);
    expect(subsetsOf(service({ ports: [] }), pods)).toEqual([]);
  });
});

describe('repacked subsets', () => {
  const one = { ip: '1.2.3.4' };
  const two = { ip: '5.6.7.8' };
  const port = (number: number) => ({ port: number });
  it.each<[string, Subset[], Subset[]]>([
    ['drop subsets without addresses', [{ ports: [port(1)] }, {}], []],
    ['keep addresses without ports', [{ addresses: [one], ports: [] }], [{ addresses: [one] }]],
    ['have an address once', [{ addresses: [one, one], ports: [port(1)] }], [{ addresses: [one], ports: [port(1)] }]],
    [
      'have an address that is ready and not as not ready',
      [{ addresses: [one], notReadyAddresses: [one], ports: [port(1)] }],
      [{ notReadyAddresses: [one], ports: [port(1)] }],
    ],
    [
      'join the addresses of a port',
      [
        { addresses: [two], ports: [port(1)] },
        { addresses: [one], ports: [port(1)] },
      ],
      [{ addresses: [one, two], ports: [port(1)] }],
    ],
    [
      'keep ports apart whose addresses are ready in one of them alone',
      [
        { addresses: [one], ports: [port(1)] },
        { notReadyAddresses: [one], ports: [port(2)] },
      ],
      [
        { addresses: [one], ports: [port(1)] },
        { notReadyAddresses: [one], ports: [port(2)] },
      ],
    ],
  ])('%s', (_, subsets, expected) => {
    expect(repack(subsets)).toEqual(expected);
  });
});

describe('truncated subsets', () => {
  const list = (count: number) => Array.from({ length: count }, (_, i) => ({ ip: `10.0.${i >> 8}.${i & 255}` }));
  const sizes = (subsets: Subset[]) =>
    truncate(subsets).map(({ addresses, notReadyAddresses }) => [
      addresses?.length ?? 0,
      notReadyAddresses?.length ?? 0,
    ]);
  it.each([
    ['all up to the limit', [[900, 100]], [[900, 100]]],
    ['not ready ones beyond it', [[900, 200]], [[900, 100]]],
    ['ready ones alone, if there are more', [[1001, 5]], [[1000, 0]]],
    [
      'a share of each subset',
      [
        [500, 0],
        [1500, 10],
      ],
      [
        [250, 0],
        [750, 0],
      ],
    ],
    [
      'a share of the not ready ones of each subset',
      [
        [300, 100],
        [300, 700],
      ],
      [
        [300, 50],
        [300, 350],
      ],
    ],
  ])('have %s', (_, input, expected) => {
    const subsets = input.map(([ready = 0, notReady = 0]) => ({
      addresses: list(ready),
      notReadyAddresses: list(notReady),
    }));
    expect(sizes(subsets)).toEqual(expected);
  });
});
