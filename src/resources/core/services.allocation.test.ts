import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { cluster, ports, v4 } from '../testing/service-pools.ts';

// Allocation and release for services. Messages and the order of the steps are those of the reference server's
// `pkg/registry/core/service/storage/alloc.go`.

const selector = { a: 'b' };

describe('IP families of new services', () => {
  const single = { ipFamilyPolicy: 'SingleStack' };
  const both = ['IPv4', 'IPv6'] as const;
  const rows: [string, readonly ('IPv4' | 'IPv6')[], JsonObject, JsonObject][] = [
    [
      'the family of a single-stack cluster',
      ['IPv4'],
      {},
      { ...single, ipFamilies: ['IPv4'], clusterIPs: ['10.0.0.1'] },
    ],
    [
      'the primary family of a dual-stack cluster',
      ['IPv6', 'IPv4'],
      {},
      { ...single, ipFamilies: ['IPv6'], clusterIPs: ['fd00::1'] },
    ],
    [
      'the requested family',
      both,
      { ipFamilies: ['IPv6'] },
      { ...single, clusterIP: 'fd00::1', clusterIPs: ['fd00::1'] },
    ],
    ['the family of the requested cluster IP', both, { clusterIP: 'fd00::2' }, { ...single, ipFamilies: ['IPv6'] }],
    [
      'RequireDualStack in a dual-stack cluster',
      both,
      { ipFamilyPolicy: 'PreferDualStack' },
      { ipFamilies: ['IPv4', 'IPv6'], clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'fd00::1'] },
    ],
    [
      'PreferDualStack in a single-stack cluster',
      ['IPv4'],
      { ipFamilyPolicy: 'PreferDualStack' },
      { ipFamilies: ['IPv4'], clusterIPs: ['10.0.0.1'] },
    ],
    [
      'two families in the requested order',
      both,
      { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] },
      { ipFamilies: ['IPv6', 'IPv4'], clusterIP: 'fd00::1', clusterIPs: ['fd00::1', '10.0.0.1'] },
    ],
    [
      'a secondary cluster IP in addition to a requested one',
      both,
      { ipFamilyPolicy: 'RequireDualStack', clusterIP: '10.0.0.3' },
      { ipFamilies: ['IPv4', 'IPv6'], clusterIPs: ['10.0.0.3', 'fd00::1'] },
    ],
    [
      'a headless service',
      both,
      { clusterIP: 'None', selector },
      { ...single, ipFamilies: ['IPv4'], clusterIPs: ['None'] },
    ],
    [
      'a headless service without a selector',
      ['IPv4'],
      { clusterIP: 'None' },
      { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'], clusterIPs: ['None'] },
    ],
  ];
  test.each(rows)('%s', async (_, families, spec, expected) => {
    const made = await cluster(...families).create(spec);
    expect(made.errors).toEqual([]);
    expect(made.spec).toMatchObject(expected);
  });

  test('an ExternalName service has neither', async () => {
    const { create, used } = cluster('IPv4');
    const { spec, errors } = await create({ type: 'ExternalName', externalName: 'a.b' });
    expect(errors).toEqual([]);
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'])
      expect(spec).not.toHaveProperty(field);
    expect(used()).toEqual({ IPv4: [], nodePorts: [] });
  });

  const tooMany = (what: string) =>
    `spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`;
  const refusals: [string, readonly ('IPv4' | 'IPv6')[], JsonObject, string[]][] = [
    [
      'RequireDualStack in a single-stack cluster',
      ['IPv4'],
      { ipFamilyPolicy: 'RequireDualStack' },
      [
        'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
      ],
    ],
    [
      'an unsupported family',
      ['IPv4'],
      { ipFamilies: ['IPv6'] },
      ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
    ],
    [
      'a cluster IP of an unsupported family',
      ['IPv4'],
      { clusterIP: 'fd00::1' },
      ['spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster'],
    ],
    [
      'two families without a policy',
      both,
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] },
      [tooMany('cluster IPs'), tooMany('IP families')],
    ],
    [
      'clusterIPs without clusterIP',
      ['IPv4'],
      { clusterIPs: ['10.0.0.1'] },
      ['spec.clusterIPs: Invalid value: ["10.0.0.1"]: must be empty when `clusterIP` is not specified'],
    ],
    [
      'a cluster IP that is not available',
      ['IPv4'],
      { clusterIP: '10.9.9.9' },
      ['spec.clusterIPs: Invalid value: ["10.9.9.9"]: failed to allocate IP 10.9.9.9: not one of them'],
    ],
  ];
  test.each(refusals)('rejected: %s', async (_, families, spec, expected) => {
    expect((await cluster(...families).create(spec)).errors).toEqual(expected);
  });

  test('the CIDR is exhausted', async () => {
    const { create } = cluster('IPv4');
    for (const _ of v4) await create({});
    await expect(create({})).rejects.toMatchObject({
      code: 500,
      reason: 'InternalError',
      message: 'Internal error occurred: failed to allocate a serviceIP: range is full',
    });
  });
});

describe('cluster IPs on update', () => {
  test('are kept when the update leaves them out', async () => {
    const { create, update, used } = cluster('IPv4');
    const { object } = await create({});
    const { spec } = await update(object, { selector });
    expect(spec).toMatchObject({ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] });
    expect(used()).toEqual({ IPv4: ['10.0.0.1'], nodePorts: [] });
  });

  test('are released and allocated with the type', async () => {
    const { create, update, used } = cluster('IPv4');
    const { object } = await create({});
    const external = await update(object, { type: 'ExternalName', externalName: 'a.b' });
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
      expect(external.spec).not.toHaveProperty(field);
    }
    expect(used()['IPv4']).toEqual([]);
    expect((await update(external.object, {})).spec).toMatchObject({ clusterIPs: ['10.0.0.1'] });
  });

  test('of a dual-stack service', async () => {
    const { create, update, used } = cluster('IPv4', 'IPv6');
    const { object } = await create({});
    const two = await update(object, { ipFamilyPolicy: 'RequireDualStack' });
    expect(two.spec).toMatchObject({ ipFamilies: ['IPv4', 'IPv6'], clusterIPs: ['10.0.0.1', 'fd00::1'] });
    // An update without a policy keeps it.
    expect((await update(two.object, {})).spec).toMatchObject({ ipFamilyPolicy: 'RequireDualStack' });
    const one = await update(two.object, { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4', 'IPv6'] });
    expect(one.spec).toMatchObject({ ipFamilies: ['IPv4'], clusterIPs: ['10.0.0.1'] });
    expect(used()).toEqual({ IPv4: ['10.0.0.1'], IPv6: [], nodePorts: [] });
  });

  test('the secondary one is released with the policy only', async () => {
    const { create, update } = cluster('IPv4', 'IPv6');
    const { object } = await create({ ipFamilyPolicy: 'RequireDualStack' });
    const policy =
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be \'SingleStack\' to release the secondary';
    expect(
      (await update(object, { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] })).errors,
    ).toEqual([`${policy} cluster IP`, `${policy} IP family`]);
  });

  test('a PreferDualStack service keeps its families', async () => {
    const { object } = await cluster('IPv4').create({ ipFamilyPolicy: 'PreferDualStack' });
    const { spec } = await cluster('IPv4', 'IPv6').update(object, {
      ipFamilyPolicy: 'PreferDualStack',
      ipFamilies: ['IPv4'],
    });
    expect(spec).toMatchObject({ ipFamilies: ['IPv4'], clusterIPs: ['10.0.0.1'] });
  });
});

describe('node ports', () => {
  const node = (...list: JsonObject[]): JsonObject => ({ type: 'NodePort', ports: list });
  const nodePorts = (spec: JsonObject) => (spec['ports'] as JsonObject[]).map(({ nodePort }) => nodePort);

  const rows: [string, JsonObject, (number | undefined)[]][] = [
    ['one for each port', node({ port: 80, name: 'a' }, { port: 81, name: 'b' }), [30000, 30001]],
    [
      'the same for both protocols',
      node({ port: 53, name: 'a' }, { port: 53, name: 'b', protocol: 'UDP' }),
      [30000, 30000],
    ],
    [
      'a requested one for both protocols',
      node({ port: 53, name: 'a' }, { port: 53, name: 'b', protocol: 'UDP', nodePort: 30002 }),
      [30002, 30002],
    ],
    [
      'two requested ones for two protocols',
      node({ port: 53, name: 'a', nodePort: 30001 }, { port: 53, name: 'b', protocol: 'UDP', nodePort: 30002 }),
      [30001, 30002],
    ],
    ['of a load balancer', { ...node({ port: 80 }), type: 'LoadBalancer' }, [30000]],
    [
      'only a requested one with allocateLoadBalancerNodePorts false',
      {
        ...node({ port: 80, name: 'a' }, { port: 81, name: 'b', nodePort: 30003 }),
        type: 'LoadBalancer',
        allocateLoadBalancerNodePorts: false,
      },
      [undefined, 30003],
    ],
    ['none for ClusterIP', { ports: [{ port: 80 }] }, [undefined]],
  ];
  test.each(rows)('%s', async (_, spec, expected) => {
    const { create, used } = cluster('IPv4');
    const made = await create(spec);
    expect(made.errors).toEqual([]);
    expect(nodePorts(made.spec)).toEqual(expected);
    const taken = expected.flatMap((port) => (port === undefined ? [] : String(port)));
    expect(used()['nodePorts']).toEqual([...new Set(taken)].sort());
  });

  test('a requested node port that is allocated already', async () => {
    const { create } = cluster('IPv4');
    await create(node({ port: 80, nodePort: 30001 }));
    expect((await create(node({ port: 80, nodePort: 30001 }))).errors).toEqual([
      'spec.ports[0].nodePort: Invalid value: 30001: taken',
    ]);
    expect((await create(node({ port: 79, name: 'a' }, { port: 80, name: 'b', nodePort: 80 }))).errors).toEqual([
      'spec.ports[1].nodePort: Invalid value: 80: not one of them',
    ]);
  });

  test('the node port range is exhausted', async () => {
    const { create } = cluster('IPv4');
    const all = ports.map((_, i) => ({ port: 80 + i, name: `p${i}` }));
    await expect(create(node(...all, { port: 90, name: 'more' }))).rejects.toMatchObject({
      code: 500,
      message: 'Internal error occurred: failed to allocate a nodePort: range is full',
    });
  });

  test('are kept by port name, and may be changed individually', async () => {
    const { create, update, used } = cluster('IPv4');
    const { object } = await create(node({ port: 80, name: 'a' }, { port: 81, name: 'b' }));
    const kept = await update(object, node({ port: 81, name: 'b' }, { port: 82, name: 'c' }));
    expect(nodePorts(kept.spec)).toEqual([30001, 30002]);
    expect(used()['nodePorts']).toEqual(['30001', '30002']);
    const moved = await update(kept.object, node({ port: 81, name: 'b', nodePort: 30003 }));
    expect(nodePorts(moved.spec)).toEqual([30003]);
    expect(used()['nodePorts']).toEqual(['30003']);
  });

  test('are released with the type, and on delete', async () => {
    const { create, update, remove, used } = cluster('IPv4', 'IPv6');
    const { object } = await create(node({ port: 80 }));
    const inside = await update(object, {});
    expect(nodePorts(inside.spec)).toEqual([undefined]);
    expect(used()['nodePorts']).toEqual([]);
    const outside = await update(inside.object, { ...node({ port: 80 }), ipFamilyPolicy: 'RequireDualStack' });
    expect(used()).toEqual({ IPv4: ['10.0.0.1'], IPv6: ['fd00::1'], nodePorts: ['30000'] });
    await remove(outside.object);
    expect(used()).toEqual({ IPv4: [], IPv6: [], nodePorts: [] });
  });

  test('a pair of node port and protocol belongs to one service port', async () => {
    const { create, update } = cluster('IPv4');
    const { object } = await create(node({ port: 80, name: 'a' }));
    const twice = [
      { port: 80, name: 'a', nodePort: 30003 },
      { port: 81, name: 'b', nodePort: 30003 },
    ];
    await expect(update(object, node(...twice))).rejects.toMatchObject({
      code: 500,
      message: 'duplicate nodePort: {TCP 30003}',
    });
  });

  test('of health checks are allocated', async () => {
    const { create, update, remove, used } = cluster('IPv4');
    const local = { ...node({ port: 80 }), type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
    const { object, spec } = await create(local);
    expect(spec).toMatchObject({ healthCheckNodePort: 30001 });
    expect((await update(object, local)).spec).toMatchObject({ healthCheckNodePort: 30001 });
    const anywhere = await update(object, { ...local, externalTrafficPolicy: 'Cluster' });
    expect(anywhere.spec).not.toHaveProperty('healthCheckNodePort');
    expect(used()['nodePorts']).toEqual(['30000']);
    const given = await update(anywhere.object, { ...local, healthCheckNodePort: 30003 });
    expect(used()['nodePorts']).toEqual(['30000', '30003']);
    await expect(create({ ...local, healthCheckNodePort: 30003 })).rejects.toMatchObject({
      code: 500,
      message: 'Internal error occurred: failed to allocate requested HealthCheck NodePort 30003: taken',
    });
    await remove(given.object);
    expect(used()['nodePorts']).not.toContain('30003');
  });
});
