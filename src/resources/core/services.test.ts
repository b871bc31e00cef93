import { describe, expect, test } from 'vitest';
import { created, type Fragment, onCreate, onUpdate, type Row, sorted, warningsOf } from '../testing/kind.ts';
import { duplicate, forbidden, invalid, missing, says, unsupported } from '../testing/messages.ts';
import { services } from './services.ts';

const service = (more: Fragment): Fragment => ({ spec: { ports: [{ port: 80 }], ...more } });
const balanced = "may only be used when `type` is 'LoadBalancer'";

const rows: readonly Row[] = [
  ['a port', service({})],
  [
    'an unknown type and invalid ports',
    service({ type: 'Odd', ports: [{ port: 0 }, { port: 80, name: 'x' }, { port: 81, name: 'x' }] }),
    ['spec.ports[0].name', 'Required', missing],
    ['spec.ports[0].port', 'Invalid', invalid(0, says.port)],
    ['spec.ports[0].targetPort', 'Invalid', invalid(0, says.port)],
    ['spec.ports[2].name', 'Duplicate', duplicate('x')],
    ['spec.type', 'NotSupported', unsupported('Odd', 'ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort')],
  ],
  ['no ports', { spec: {} }, ['spec.ports', 'Required', missing]],
  ['a headless service without ports', { spec: { clusterIP: 'None' } }],
  [
    'a duplicate port',
    service({
      ports: [
        { port: 80, name: 'a' },
        { port: 80, name: 'b' },
      ],
    }),
    [
      'spec.ports[1]',
      'Duplicate',
      duplicate({ Name: '', Protocol: 'TCP', AppProtocol: null, Port: 80, TargetPort: 0, NodePort: 0 }),
    ],
  ],
  [
    'an invalid targetPort',
    service({ ports: [{ port: 80, targetPort: '80' }] }),
    ['spec.ports[0].targetPort', 'Invalid', invalid('80', says.portName)],
  ],
  [
    'a node port of type ClusterIP',
    service({ ports: [{ port: 80, nodePort: 30000 }] }),
    ['spec.ports[0].nodePort', 'Forbidden', forbidden("may not be used when `type` is 'ClusterIP'")],
  ],
  [
    'a duplicate node port',
    service({
      type: 'NodePort',
      ports: [
        { port: 80, nodePort: 30000, name: 'a' },
        { port: 81, nodePort: 30000, name: 'b' },
      ],
    }),
    ['spec.ports[1].nodePort', 'Duplicate', duplicate(30000)],
  ],
  [
    'an invalid appProtocol',
    service({ ports: [{ port: 80, appProtocol: 'a b' }] }),
    ['spec.ports[0].appProtocol', 'Invalid', invalid('a b', says.qualified)],
  ],
  [
    'the port of the kubelet',
    service({ type: 'LoadBalancer', ports: [{ port: 10250 }] }),
    ['spec.ports[0]', 'Invalid', invalid(10250, 'may not expose port 10250 externally since it is used by kubelet')],
  ],
  [
    'a headless service with node ports',
    service({ type: 'NodePort', clusterIP: 'None' }),
    ['spec.clusterIPs[0]', 'Invalid', invalid('None', "may not be set to 'None' for NodePort services")],
  ],
  ['an ExternalName service', { spec: { type: 'ExternalName', externalName: 'example.com.' } }],
  ['no other name', { spec: { type: 'ExternalName' } }, ['spec.externalName', 'Required', missing]],
  [
    'an ExternalName service with a cluster IP',
    { spec: { type: 'ExternalName', externalName: 'a.b', clusterIP: '10.0.0.1', ipFamilies: ['IPv4'] } },
    ['spec.clusterIPs', 'Forbidden', forbidden('may not be set for ExternalName services')],
    ['spec.ipFamilies', 'Forbidden', forbidden('may not be set for ExternalName services')],
  ],
  ['an invalid cluster IP', service({ clusterIP: 'x' }), ['spec.clusterIPs[0]', 'Invalid', invalid('x', says.ip)]],
  [
    'clusterIP differs from clusterIPs',
    service({ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.2'] }),
    ['spec.clusterIPs', 'Invalid', invalid(['10.0.0.2'], 'first value must match `clusterIP`')],
  ],
  [
    'two cluster IPs of one family',
    service({ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.2'] }),
    [
      'spec.clusterIPs',
      'Invalid',
      invalid(['10.0.0.1', '10.0.0.2'], 'may specify no more than one IP for each IP family'),
    ],
  ],
  [
    'a cluster IP of another family',
    service({ clusterIP: '10.0.0.1', ipFamilies: ['IPv6'] }),
    ['spec.clusterIPs[0]', 'Invalid', invalid('10.0.0.1', 'expected an IPv6 value as indicated by `ipFamilies[0]`')],
  ],
  [
    'invalid families and policy',
    service({ ipFamilies: ['IPv4', 'IPv4', 'IPv5'], ipFamilyPolicy: 'Odd' }),
    ['spec.ipFamilies[1]', 'Duplicate', duplicate('IPv4')],
    ['spec.ipFamilies[2]', 'NotSupported', unsupported('IPv5', 'IPv4', 'IPv6')],
    ['spec.ipFamilyPolicy', 'NotSupported', unsupported('Odd', 'PreferDualStack', 'RequireDualStack', 'SingleStack')],
  ],
  [
    'an affinity timeout above the limit',
    service({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } }),
    [
      'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
      'Invalid',
      invalid(86401, 'must be greater than 0 and less than 86400'),
    ],
  ],
  [
    'unknown session affinity',
    service({ sessionAffinity: 'Odd' }),
    ['spec.sessionAffinity', 'NotSupported', unsupported('Odd', 'ClientIP', 'None')],
  ],
  [
    'invalid external IPs',
    service({ externalIPs: ['x', '127.0.0.1'] }),
    ['spec.externalIPs[0]', 'Invalid', invalid('x', says.ip)],
    ['spec.externalIPs[1]', 'Invalid', invalid('127.0.0.1', 'may not be in the loopback range (127.0.0.0/8, ::1/128)')],
  ],
  [
    'load balancer fields of another type',
    service({ loadBalancerSourceRanges: ['x'], allocateLoadBalancerNodePorts: true, loadBalancerClass: 'a/b' }),
    ['spec.LoadBalancerSourceRanges', 'Forbidden', forbidden(balanced)],
    ['spec.LoadBalancerSourceRanges[0]', 'Invalid', invalid('x', says.cidr)],
    ['spec.allocateLoadBalancerNodePorts', 'Forbidden', forbidden(balanced)],
    ['spec.loadBalancerClass', 'Forbidden', forbidden(balanced)],
  ],
  [
    'external traffic fields of an internal service',
    service({ externalTrafficPolicy: 'Local', healthCheckNodePort: 30000 }),
    ['spec.externalTrafficPolicy', 'Invalid', invalid('Local', 'may only be set for externally-accessible services')],
    [
      'spec.healthCheckNodePort',
      'Invalid',
      invalid(30000, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"),
    ],
  ],
  [
    'unknown traffic policies',
    service({ type: 'NodePort', externalTrafficPolicy: 'Odd', internalTrafficPolicy: 'Odd' }),
    ['spec.externalTrafficPolicy', 'NotSupported', unsupported('Odd', 'Cluster', 'Local')],
    ['spec.internalTrafficPolicy', 'NotSupported', unsupported('Odd', 'Cluster', 'Local')],
  ],
  [
    'unknown trafficDistribution',
    service({ trafficDistribution: 'Odd' }),
    ['spec.trafficDistribution', 'NotSupported', unsupported('Odd', 'PreferClose')],
  ],
  ['a selector', service({ selector: { 'a b': 'c' } }), ['spec.selector', 'Invalid', invalid('a b', says.qualified)]],
];

describe('services', () => {
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(services, fragment)).toEqual(sorted(expected));
  });

  test('defaults', () => {
    expect(created(services, service({ selector: { a: 'b' } }))['spec']).toEqual({
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      selector: { a: 'b' },
      type: 'ClusterIP',
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    });
    expect(created(services, service({ type: 'LoadBalancer', sessionAffinity: 'ClientIP' }))['spec']).toMatchObject({
      externalTrafficPolicy: 'Cluster',
      allocateLoadBalancerNodePorts: true,
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
    });
  });

  test('cluster IPs and families are immutable', () => {
    const before = service({ clusterIP: '10.0.0.1', ipFamilies: ['IPv4'] });
    expect(onUpdate(services, before, service({}))).toEqual([]);
    const families = { ipFamilies: ['IPv4'] };
    expect(onUpdate(services, before, service({ ...families, clusterIP: '', clusterIPs: [] }))).toEqual([]);
    // A client that does not send `clusterIPs` replaces `clusterIP` only.
    const moved = [['spec.clusterIPs[0]', 'Invalid', invalid(['10.0.0.2'], 'may not change once set')]];
    expect(onUpdate(services, before, service({ ...families, clusterIP: '10.0.0.2' }))).toEqual(moved);
    const listed = { ...families, clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.1'] };
    expect(onUpdate(services, before, service(listed))).toEqual(moved);
    const dual = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] };
    const kept = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] };
    const why = (what: string) =>
      `Invalid value: null: must be set to 'SingleStack' when releasing the secondary ${what}`;
    expect(onUpdate(services, service(dual), service(kept))).toEqual([
      ['spec.ipFamilyPolicy', 'Invalid', why('clusterIP')],
      ['spec.ipFamilyPolicy', 'Invalid', why('ipFamily')],
    ]);
    expect(onUpdate(services, service(dual), service({ ...kept, ipFamilyPolicy: 'SingleStack' }))).toEqual([]);
  });

  test('a change of the type drops what only the old type needs', () => {
    const node = service({ type: 'NodePort', ports: [{ port: 80, nodePort: 30000 }], clusterIP: '10.0.0.1' });
    const fields = { externalTrafficPolicy: 'Cluster', clusterIP: '10.0.0.1' };
    expect(onUpdate(services, node, service({ ...fields, ports: [{ port: 80, nodePort: 30000 }] }))).toEqual([]);
    expect(onUpdate(services, node, { spec: { type: 'ExternalName', externalName: 'a.b' } })).toEqual([]);
  });

  test('loadBalancerClass is immutable', () => {
    const of = (name: string) => service({ type: 'LoadBalancer', loadBalancerClass: name });
    expect(onUpdate(services, of('a/b'), of('a/c'))).toEqual([
      ['spec.loadBalancerClass', 'Invalid', invalid('a/c', 'may not change once set')],
    ]);
    const unneeded = ['spec.loadBalancerClass', 'Forbidden', forbidden(balanced)];
    expect(onUpdate(services, of('a/b'), service({ loadBalancerClass: 'a/c' }))).toEqual([unneeded, unneeded]);
  });

  test('only load balancers have a load balancer status', () => {
    const status = { loadBalancer: { ingress: [{ ip: 'x', hostname: '10.0.0.1' }] } };
    expect(onUpdate(services, service({}), { status }, 'status')).toEqual([
      ['status.loadBalancer.ingress', 'Forbidden', forbidden("may only be used when `spec.type` is 'LoadBalancer'")],
    ]);
    expect(onUpdate(services, service({ type: 'LoadBalancer' }), { status }, 'status')).toEqual([
      [
        'status.loadBalancer.ingress[0].hostname',
        'Invalid',
        invalid('10.0.0.1', 'must be a DNS name, not an IP address'),
      ],
      ['status.loadBalancer.ingress[0].ip', 'Invalid', invalid('x', says.ip)],
    ]);
  });

  const warningRows: [string, Fragment, string[]][] = [
    [
      'the deprecated annotation',
      { ...service({}), metadata: { annotations: { 'service.kubernetes.io/topology-aware-hints': 'auto' } } },
      [
        'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead',
      ],
    ],
    [
      'non-canonical addresses',
      service({
        type: 'LoadBalancer',
        clusterIP: 'FD00::1',
        externalIPs: ['::ffff:1.2.3.4'],
        loadBalancerIP: '2001:DB8::1',
        loadBalancerSourceRanges: ['10.0.0.1/8'],
      }),
      [
        'spec.clusterIPs[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
        'spec.externalIPs[0]: non-standard IP address "::ffff:1.2.3.4" will be considered invalid in a future Kubernetes release: use "1.2.3.4"',
        'spec.loadBalancerIP: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
        'spec.loadBalancerSourceRanges[0]: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
      ],
    ],
    [
      'external IPs of an ExternalName service',
      { spec: { type: 'ExternalName', externalName: 'a.b', externalIPs: ['1.2.3.4'] } },
      ['spec.externalIPs is ignored when spec.type is "ExternalName"'],
    ],
    [
      'externalName of another type',
      service({ externalName: 'a.b' }),
      ['spec.externalName is ignored when spec.type is not "ExternalName"'],
    ],
  ];
  test.each(warningRows)('warnings: %s', (_, fragment, expected) => {
    expect(warningsOf(services, fragment)).toEqual(expected);
  });

  test('topology annotations agree', () => {
    const annotations = (old: string, current: string) => ({
      ...service({}),
      metadata: {
        annotations: {
          'service.kubernetes.io/topology-aware-hints': old,
          'service.kubernetes.io/topology-mode': current,
        },
      },
    });
    expect(onCreate(services, annotations('auto', 'auto'))).toEqual([]);
    expect(onCreate(services, annotations('auto', 'off'))).toEqual([
      [
        'metadata.annotations[service.kubernetes.io/topology-mode]',
        'Invalid',
        invalid('off', 'must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified'),
      ],
    ]);
  });

  test('headless services have warnings for fields without effect', () => {
    expect(warningsOf(services, { spec: { clusterIP: 'None', sessionAffinity: 'ClientIP' } })).toEqual([
      'spec.SessionAffinity is ignored for headless services',
    ]);
  });
});
