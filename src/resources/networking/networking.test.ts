import { describe, expect, test } from 'vitest';
import { endpointSlices } from '../discovery/endpoint-slices.ts';
import { canonicalNetwork } from '../shared/addresses.ts';
import { created, type Fragment, onCreate, onUpdate, type Row, sorted, warningsOf } from '../testing/kind.ts';
import { duplicate, forbidden, immutable, invalid, missing, required, says, unsupported } from '../testing/messages.ts';
import { ingressClasses } from './ingress-classes.ts';
import { ingresses } from './ingresses.ts';
import { ipAddresses } from './ip-addresses.ts';
import { networkPolicies } from './network-policies.ts';
import { serviceCidrs } from './service-cidrs.ts';

const service = { service: { name: 's', port: { number: 80 } } };
const ingress = (path: Fragment, host = 'a.b'): Fragment => ({
  spec: { rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend: service, ...path }] } }] },
});
const at = 'spec.rules[0].http.paths[0]';

describe('ingresses', () => {
  const rows: readonly Row[] = [
    ['a path to a service', ingress({})],
    [
      'invalid host, path, backend and path type',
      {
        spec: {
          rules: [
            {
              host: 'BAD HOST',
              http: {
                paths: [
                  { path: 'x', pathType: 'Prefix', backend: { service: { name: 's' } } },
                  { path: '/', backend: {} },
                ],
              },
            },
          ],
        },
      },
      ['spec.rules[0].host', 'Invalid', invalid('BAD HOST', says.subdomain)],
      [`${at}.backend`, 'Required', required('port name or number is required')],
      [`${at}.path`, 'Invalid', invalid('x', 'must be an absolute path')],
      ['spec.rules[0].http.paths[1].pathType', 'Required', required('pathType must be specified')],
    ],
    [
      'neither rules nor backend',
      { spec: {} },
      ['spec', 'Invalid', 'Invalid value: null: either `defaultBackend` or `rules` must be specified'],
    ],
    ['no paths', { spec: { rules: [{ http: { paths: [] } }] } }, ['spec.rules[0].http.paths', 'Required', missing]],
    [
      'an IP address as the host',
      ingress({}, '10.0.0.1'),
      ['spec.rules[0].host', 'Invalid', invalid('10.0.0.1', 'must be a DNS name, not an IP address')],
    ],
    ['a wildcard host', ingress({}, '*.a.b')],
    [
      'an unknown path type',
      ingress({ pathType: 'Odd' }),
      [`${at}.pathType`, 'NotSupported', unsupported('Odd', 'Exact', 'ImplementationSpecific', 'Prefix')],
    ],
    [
      'a path with dot segments',
      ingress({ path: '/a//b/..' }),
      [`${at}.path`, 'Invalid', invalid('/a//b/..', "must not contain '//'")],
      [`${at}.path`, 'Invalid', invalid('/a//b/..', "cannot end with '/..'")],
    ],
    ['any path with ImplementationSpecific', ingress({ pathType: 'ImplementationSpecific', path: '/a//b' })],
    [
      'both kinds of backend',
      ingress({ backend: { ...service, resource: { kind: 'K', name: 'n' } } }),
      [`${at}.backend`, 'Invalid', invalid('', 'cannot set both resource and service backends')],
    ],
    [
      'no backend',
      ingress({ backend: {} }),
      [`${at}.backend`, 'Invalid', invalid('', 'resource or service backend is required')],
    ],
    [
      'a port name and number',
      ingress({ backend: { service: { name: 's', port: { name: 'p', number: 1 } } } }),
      [`${at}.backend`, 'Invalid', invalid('', 'cannot set both port name & port number')],
    ],
    [
      'an invalid service',
      ingress({ backend: { service: { name: '1', port: { number: 70000 } } } }),
      [`${at}.backend.service.name`, 'Invalid', invalid('1', says.label1035)],
      [`${at}.backend.service.port.number`, 'Invalid', invalid(70000, says.port)],
    ],
    [
      'a resource backend without a kind',
      { spec: { defaultBackend: { resource: {} } } },
      ['spec.defaultBackend.resource.kind', 'Required', missing],
      ['spec.defaultBackend.resource.name', 'Required', missing],
    ],
    [
      'invalid TLS and class',
      { spec: { defaultBackend: service, tls: [{ hosts: ['A'], secretName: 'B' }], ingressClassName: 'C' } },
      ['spec.ingressClassName', 'Invalid', invalid('C', says.subdomain)],
      ['spec.tls[0].hosts[0]', 'Invalid', invalid('A', says.subdomain)],
      ['spec.tls[0].secretName', 'Invalid', invalid('B', says.subdomain)],
    ],
    [
      'class as field and annotation',
      {
        metadata: { annotations: { 'kubernetes.io/ingress.class': 'a' } },
        spec: { defaultBackend: service, ingressClassName: 'b' },
      },
      [
        'annotations.kubernetes.io/ingress.class',
        'Invalid',
        invalid('a', 'must match `ingressClassName` when both are specified'),
      ],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(ingresses, fragment)).toEqual(sorted(expected));
  });
  test('the deprecated class annotation has a warning', () => {
    const metadata = { annotations: { 'kubernetes.io/ingress.class': 'a' } };
    expect(warningsOf(ingresses, { metadata, spec: { defaultBackend: service } })).toEqual([
      `annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`,
    ]);
  });
});

describe('ingress classes', () => {
  const parameters = (more: Fragment): Fragment => ({
    spec: { controller: 'a.b/c', parameters: { kind: 'K', name: 'n', ...more } },
  });
  const rows: readonly Row[] = [
    ['a controller', { spec: { controller: 'a.b/c' } }],
    ['no controller', { spec: {} }, ['spec.controller', 'Required', missing]],
    [
      'a controller without a path',
      { spec: { controller: 'no slash' } },
      ['spec.controller', 'Invalid', invalid('no slash', 'must be a domain-prefixed path (such as "acme.io/foo")')],
    ],
    ['a domain', { spec: { controller: 'A/b' } }, ['spec.controller', 'Invalid', invalid('A', says.subdomain)]],
    [
      'an unknown scope',
      parameters({ scope: 'Odd' }),
      ['spec.parameters.scope', 'NotSupported', unsupported('Odd', 'Cluster', 'Namespace')],
    ],
    [
      'no namespace with a namespaced scope',
      parameters({ scope: 'Namespace' }),
      ['spec.parameters.namespace', 'Required', required("`parameters.scope` is set to 'Namespace'")],
    ],
    [
      'a namespace with the cluster scope',
      parameters({ namespace: 'n' }),
      ['spec.parameters.namespace', 'Forbidden', forbidden("`parameters.scope` is set to 'Cluster'")],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(ingressClasses, fragment)).toEqual(sorted(expected));
  });
  test('the controller is immutable', () => {
    expect(onUpdate(ingressClasses, { spec: { controller: 'a.b/c' } }, { spec: { controller: 'a.b/d' } })).toEqual([
      ['spec.controller', 'Invalid', immutable('a.b/d')],
    ]);
  });
});

describe('network policies', () => {
  const policy = (rule: Fragment): Fragment => ({ spec: { podSelector: {}, ingress: [rule] } });
  const port = 'spec.ingress[0].ports[0]';
  const from = 'spec.ingress[0].from[0]';
  const rows: readonly Row[] = [
    ['a CIDR with an exception', policy({ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }] })],
    [
      'an invalid CIDR and port',
      policy({ from: [{ ipBlock: { cidr: 'nope' } }], ports: [{ port: 70000 }] }),
      [`${from}.ipBlock.cidr`, 'Invalid', invalid('nope', says.cidr)],
      [`${port}.port`, 'Invalid', invalid(70000, says.port)],
    ],
    [
      'an exception outside the CIDR',
      policy({ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16', '10.0.0.0/8'] } }] }),
      [`${from}.ipBlock.except[0]`, 'Invalid', invalid('11.0.0.0/16', 'must be a strict subset of `cidr`')],
      [`${from}.ipBlock.except[1]`, 'Invalid', invalid('10.0.0.0/8', 'must be a strict subset of `cidr`')],
    ],
    ['nobody', policy({ from: [{}] }), [from, 'Required', required('must specify a peer')]],
    [
      'a CIDR with a pod selector',
      policy({ from: [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] }),
      [from, 'Forbidden', forbidden('may not specify both ipBlock and another peer')],
    ],
    [
      'endPort below port',
      policy({ ports: [{ port: 80, endPort: 79 }] }),
      [`${port}.endPort`, 'Invalid', invalid(80, 'must be greater than or equal to `port`')],
    ],
    [
      'endPort without port',
      policy({ ports: [{ endPort: 79 }] }),
      [`${port}.endPort`, 'Invalid', invalid(79, 'may not be specified when `port` is not specified')],
    ],
    [
      'endPort with a named port',
      policy({ ports: [{ port: 'http', endPort: 79 }] }),
      [`${port}.endPort`, 'Invalid', invalid(79, 'may not be specified when `port` is non-numeric')],
    ],
    [
      'an unknown policy type',
      { spec: { podSelector: {}, policyTypes: ['Odd'] } },
      ['spec.policyTypes[0]', 'NotSupported', unsupported('Odd', 'Ingress', 'Egress')],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(networkPolicies, fragment)).toEqual(sorted(expected));
  });
  test('defaults', () => {
    const { spec } = created(networkPolicies, { spec: { podSelector: {}, egress: [{ ports: [{ port: 1 }] }] } });
    expect(spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'], egress: [{ ports: [{ protocol: 'TCP' }] }] });
  });
});

describe('IP addresses and service CIDRs', () => {
  test('parentRef is required and immutable', () => {
    const of = (name: string) => ({ spec: { parentRef: { resource: 'services', name } } });
    expect(onCreate(ipAddresses, { spec: {} })).toEqual([['spec.parentRef', 'Required', missing]]);
    const shown = { Group: '', Resource: 'services', Namespace: '', Name: 'b' };
    expect(onUpdate(ipAddresses, of('a'), of('b'))).toEqual([['spec.parentRef', 'Invalid', immutable(shown)]]);
  });
  test.each([
    ['10.0.0.1', []],
    ['fd00::1', []],
    // As the reference server answers.
    ['fd00:0::1', ['must be in canonical form ("fd00::1")']],
    ['FD00::1', ['must be in canonical form ("fd00::1")']],
    ['::ffff:1.2.3.4', ['must not be an IPv4-mapped IPv6 address']],
    ['010.1.1.1', ['must not have leading 0s']],
    ['fd00::1%eth0', [says.ip]],
    ['1.2.3', [says.ip]],
    ['x', [says.ip]],
  ])('the name %s', (name, expected) => {
    expect(ipAddresses.strategy.nameRule?.(name)).toEqual(expected);
  });
  const rows: readonly Row[] = [
    ['a CIDR of each family', { spec: { cidrs: ['10.0.0.0/24', 'fd00::/64'] } }],
    ['none', { spec: {} }, ['spec.cidrs', 'Required', required('at least one CIDR required')]],
    // As the reference server answers.
    ...[
      ['x', says.cidr],
      ['2001:DB8::/64', 'must be in canonical form ("2001:db8::/64")'],
      ['fd00:0::/64', 'must be in canonical form ("fd00::/64")'],
      ['::ffff:1.2.3.0/120', 'must not have an IPv4-mapped IPv6 address'],
      ['FD00::1/64', 'must not have bits set beyond the prefix length'],
      ['1.2.3.4/8', 'must not have bits set beyond the prefix length'],
      ['010.0.0.0/8', 'must not have leading 0s in IP or prefix length'],
      ['10.0.0.0/08', 'must not have leading 0s in IP or prefix length'],
    ].map(([range = '', why = '']): Row => {
      return [range, { spec: { cidrs: [range] } }, ['spec.cidrs[0]', 'Invalid', invalid(range, why)]];
    }),
    [
      'two CIDRs of one family',
      { spec: { cidrs: ['10.0.0.0/24', '10.0.1.0/24'] } },
      [
        'spec.cidrs',
        'Invalid',
        invalid(
          ['10.0.0.0/24', '10.0.1.0/24'],
          'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
        ),
      ],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(serviceCidrs, fragment)).toEqual(sorted(expected));
  });
  test('only a second family may be added', () => {
    const of = (...cidrs: string[]) => ({ spec: { cidrs } });
    expect(onUpdate(serviceCidrs, of('10.0.0.0/24'), of('10.0.0.0/24', 'fd00::/64'))).toEqual([]);
    expect(onUpdate(serviceCidrs, of('10.0.0.0/24'), of('10.0.1.0/24'))).toEqual([
      ['spec.cidrs[0]', 'Invalid', immutable('10.0.1.0/24')],
    ]);
    expect(onUpdate(serviceCidrs, of('10.0.0.0/24'), of())).toEqual([['spec.cidrs', 'Invalid', immutable(null)]]);
    expect(onUpdate(serviceCidrs, of('10.0.0.0/24'), of('x'))).toEqual([['spec.cidrs[0]', 'Invalid', immutable('x')]]);
    expect(onUpdate(serviceCidrs, of('10.0.0.0/24'), of('10.0.0.0/24', 'x'))).toEqual([
      ['spec.cidrs[1]', 'Invalid', invalid('x', says.cidr)],
    ]);
    const three = ['10.0.0.0/24', 'fd00::/64', 'fd01::/64'];
    expect(onUpdate(serviceCidrs, of('10.0.0.0/24'), of(...three))).toEqual([
      ['spec.cidrs', 'Invalid', immutable(three)],
    ]);
  });
});

describe('endpoint slices', () => {
  const slice = (endpoint: Fragment, addressType = 'IPv4'): Fragment => ({ addressType, endpoints: [endpoint] });
  const first = 'endpoints[0].addresses[0]';
  const rows: readonly Row[] = [
    ['an address', { ...slice({ addresses: ['10.0.0.1'] }), ports: [{ name: 'h', port: 80 }] }],
    [
      'neither addressType nor address',
      slice({ addresses: [] }, 'IPv5'),
      ['addressType', 'NotSupported', unsupported('IPv5', 'FQDN', 'IPv4', 'IPv6')],
      ['endpoints[0].addresses', 'Required', required('must contain at least 1 address')],
    ],
    [
      'an address of another family',
      slice({ addresses: ['fd00::1'] }),
      // An address of the wrong family is an error of the list, as the reference server reports it.
      ['endpoints[0].addresses', 'Invalid', invalid('fd00::1', 'must be an IPv4 address')],
    ],
    [
      'a text that is no address',
      slice({ addresses: ['a'] }),
      // The reference server says so once, whatever the type of the slice.
      [first, 'Invalid', invalid('a', 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')],
    ],
    [
      'a loopback address',
      slice({ addresses: ['::1'] }, 'IPv6'),
      [first, 'Invalid', invalid('::1', 'may not be in the loopback range (127.0.0.0/8, ::1/128)')],
    ],
    [
      'an FQDN without a dot',
      slice({ addresses: ['x'] }, 'FQDN'),
      [first, 'Invalid', invalid('x', 'should be a domain with at least two segments separated by dots')],
    ],
    [
      'too many addresses',
      slice({ addresses: Array.from({ length: 101 }, (_, i) => `10.0.0.${i + 1}`) }),
      ['endpoints[0].addresses', 'TooMany', 'Too many: 101: must have at most 100 items'],
    ],
    [
      'invalid node, host name and hints',
      slice({
        addresses: ['10.0.0.1'],
        nodeName: 'A',
        hostname: 'B',
        hints: { forZones: [{ name: 'z' }, { name: 'z' }] },
      }),
      ['endpoints[0].hostname', 'Invalid', invalid('B', says.label)],
      ['endpoints[0].nodeName', 'Invalid', invalid('A', says.subdomain)],
      ['endpoints[0].hints.forZones[1].name', 'Duplicate', duplicate('z')],
    ],
    [
      'invalid ports',
      { addressType: 'IPv4', endpoints: [], ports: [{}, { protocol: 'Odd' }, { name: 'A' }] },
      ['ports[1].name', 'Duplicate', duplicate('')],
      ['ports[1].protocol', 'NotSupported', unsupported('Odd', 'SCTP', 'TCP', 'UDP')],
      ['ports[2].name', 'Invalid', invalid('A', says.label)],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(endpointSlices, fragment)).toEqual(sorted(expected));
  });
  test('addressType is immutable', () => {
    const of = (addressType: string) => ({ addressType, endpoints: [] });
    expect(onUpdate(endpointSlices, of('IPv4'), of('IPv6'))).toEqual([['addressType', 'Invalid', immutable('IPv6')]]);
  });
  test.each([
    ['IPv6', '2001:DB8::1', 'IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")'],
    [
      'IPv6',
      '::ffff:10.0.0.1',
      'non-standard IP address "::ffff:10.0.0.1" will be considered invalid in a future Kubernetes release: use "10.0.0.1"',
    ],
  ])('addresses are written in one way: %s %s', (addressType, address, why) => {
    const fragment = { addressType, endpoints: [{ addresses: [address] }] };
    expect(warningsOf(endpointSlices, fragment)).toEqual([`endpoints[0].addresses[0]: ${why}`]);
  });
  test('the FQDN address type has a warning', () => {
    const fragment = { addressType: 'FQDN', endpoints: [{ addresses: ['a.b'] }] };
    expect(warningsOf(endpointSlices, fragment)).toEqual(['spec.addressType: FQDN endpoints are deprecated']);
  });
  test('slices of a controller have no warnings', () => {
    const labels = { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' };
    const fragment = { metadata: { labels }, addressType: 'IPv6', endpoints: [{ addresses: ['2001:DB8::1'] }] };
    expect(warningsOf(endpointSlices, fragment)).toEqual([]);
  });
});

test.each([
  ['10.0.0.0/8', []],
  ['10.1.2.3/8', ['CIDR value "10.1.2.3/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.1.2.3/32"?)']],
  ['2001:DB8::/32', ['IPv6 CIDR value "2001:DB8::/32" should be in RFC 5952 canonical format ("2001:db8::/32")']],
  ['10.0.0.1/x', []],
])('warnings for the CIDR %s', (cidr, expected) => {
  const fragment = { spec: { podSelector: {}, egress: [{ to: [{ ipBlock: { cidr } }] }] } };
  expect(warningsOf(networkPolicies, fragment)).toEqual(
    expected.map((why) => `spec.egress[0].to[0].ipBlock.cidr: ${why}`),
  );
});

test('a long text is no network, and its zeros are not tried one by one', () => {
  expect(canonicalNetwork(`${'0'.repeat(1_000_000)}:`)).toEqual([says.cidr]);
});
