import { describe, expect, it } from 'vitest';
import { allControllers, listedControllers } from '../../controllers/index.ts';
import type { Json } from '../../meta/index.ts';
import { defaultSettings, flagList, programSettings, serverTable } from './flags.ts';
import { readOptions, readSettings, type SettingSources } from './settings.ts';

async function read(argv: string[], env: SettingSources['env'] = {}, config: Json = null) {
  const result = await readSettings(serverTable, { argv, env, readConfig: () => Promise.resolve(config) });
  return 'settings' in result ? result.settings : { problems: result.problems };
}
const problems = async (...given: Parameters<typeof read>) => {
  const result = await read(...given);
  return 'problems' in result ? result.problems : [];
};

describe('readSettings', () => {
  it('returns the defaults of the flags', async () => {
    expect(await read([])).toEqual(defaultSettings);
    expect(defaultSettings).toMatchObject({
      bindAddress: '127.0.0.1',
      securePort: 6443,
      anonymousAuth: undefined,
      serviceClusterIpRange: [{ address: '10.0.0.0', prefix: 24 }],
      apiDomain: 'orch.io',
      store: 'lmdb',
      dataDir: undefined,
      maxRequestsInflight: 400,
      maxMutatingRequestsInflight: 200,
      minRequestTimeout: 1800,
      tokenAuthFile: undefined,
    });
  });

  it('enables and disables admission plugins by name', async () => {
    const on = '--enable-admission-plugins=OwnerReferencesPermissionEnforcement,PodSecurity';
    expect(
      await read([on, '--disable-admission-plugins=Priority', '--disable-admission-plugins', 'PodSecurity']),
    ).toEqual({
      problems: ['--enable-admission-plugins and --disable-admission-plugins both name PodSecurity'],
    });
    expect(await read([on, '--disable-admission-plugins=Priority, LimitRanger'])).toMatchObject({
      enableAdmissionPlugins: ['OwnerReferencesPermissionEnforcement', 'PodSecurity'],
      disableAdmissionPlugins: ['Priority', 'LimitRanger'],
    });
    expect(await problems(['--disable-admission-plugins=PodSecurty'])).toEqual([
      '--disable-admission-plugins="PodSecurty" names an unknown admission plugin "PodSecurty"; did you mean "PodSecurity"?',
    ]);
  });

  it('checks the settings of a store over etcd, and that they are for one', async () => {
    const servers = '--etcd-servers=https://10.0.0.1:2379,https://10.0.0.2:2379';
    const secure = ['--store=etcd', servers, '--etcd-cafile=ca', '--etcd-certfile=cert', '--etcd-keyfile=key'];
    expect(await read(secure)).toMatchObject({
      store: 'etcd',
      etcdServers: ['https://10.0.0.1:2379', 'https://10.0.0.2:2379'],
      etcdPrefix: '/registry',
      etcdCompactionInterval: 300_000,
    });
    const plain = '--etcd-servers=http://[::1]:2379';
    expect(await read(['--store=etcd', plain, '--etcd-prefix=/a/b'])).toMatchObject({ etcdPrefix: '/a/b' });
    const wrong: readonly (readonly [flags: readonly string[], ...expected: readonly string[]])[] = [
      [['--store=etcd'], '--store=etcd needs --etcd-servers, such as https://10.0.0.1:2379'],
      [
        [plain, '--etcd-cafile=ca'],
        '--etcd-servers is for --store=etcd only',
        '--etcd-cafile is for --store=etcd only',
      ],
      [secure.slice(0, -1), '--etcd-certfile and --etcd-keyfile must be given together'],
      [
        ['--store=etcd', plain, ...secure.slice(2)],
        '--etcd-cafile needs https in --etcd-servers',
        '--etcd-certfile needs https in --etcd-servers',
      ],
    ];
    for (const [flags, ...expected] of wrong) expect(await problems([...flags])).toEqual(expected);
    const urls = ['10.0.0.1:2379', 'unix:///run/etcd', 'https://user:pass@10.0.0.1:2379', 'https://10.0.0.1:2379/v3'];
    for (const url of urls) {
      expect(await problems(['--store=etcd', `--etcd-servers=${url}`])).toContainEqual(
        `--etcd-servers=${JSON.stringify(url)} must be URLs such as https://10.0.0.1:2379; ${JSON.stringify(url)} is not`,
      );
    }
    for (const prefix of ['registry', '/', '/registry/', '/a//b', '']) {
      expect((await problems(['--store=etcd', plain, `--etcd-prefix=${prefix}`]))[0]).toContain(
        'must begin with a slash, not end with one',
      );
    }
  });

  it('switches controllers on and off', async () => {
    const name = 'clusterrole-aggregation-controller';
    const all = allControllers.map((controller) => controller.name);
    const byDefault = listedControllers.filter(({ onlyWhenNamed }) => onlyWhenNamed !== true).map((one) => one.name);
    const others = byDefault.filter((other) => other !== name);
    expect(listedControllers.map((listed) => listed.name)).toEqual(all);
    const on = async (...items: string[]) => {
      const result = await read(items.map((item) => `--controllers=${item}`));
      return 'problems' in result ? result.problems : [...result.controllers];
    };
    expect(defaultSettings.controllers).toEqual(new Set(byDefault));
    expect(await on('*')).toEqual(byDefault);
    expect(await on(`*,${all.join(',')}`)).toEqual(all);
    expect(await on('-*')).toEqual([]);
    expect(await on(name)).toEqual([name]);
    expect(await on('clusterrole-aggregation')).toEqual([name]);
    expect(await on(`*, -${name}`)).toEqual(others);
    expect(await on('-clusterrole-aggregation', '*')).toEqual(others);
    expect(await on(`-*,${name}`)).toEqual([name]);
    expect(await on(`${name},-${name}`)).toEqual([name]);
    expect(await on('*,-garbage')).toEqual([
      `--controllers="*,-garbage" names an unknown controller "-garbage"; known are ${all.join(', ')}`,
    ]);
    expect(await on('')).toEqual(['--controllers="" must name controllers, or be * for all or -* for none']);
  });

  it('refuses durations of leader election that do not fit together', async () => {
    expect(await problems(['--leader-elect-lease-duration=10s'])).toEqual([
      '--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline',
    ]);
    expect(await problems(['--leader-elect-retry-period=9s'])).toEqual([
      '--leader-elect-renew-deadline must be greater than 1.2 times --leader-elect-retry-period',
    ]);
    const short = ['--leader-elect-lease-duration=900ms', '--leader-elect-renew-deadline=500ms'];
    expect(await problems([...short, '--leader-elect-retry-period=0'])).toEqual([
      '--leader-elect-lease-duration must be at least 1s',
      '--leader-elect-retry-period must be greater than zero',
    ]);
    expect(await problems([...short, '--leader-elect=false'])).toEqual([]);
  });

  it('parses every type', async () => {
    expect(
      await read([
        '--bind-address=::',
        '--secure-port',
        '0',
        '--anonymous-auth=false',
        '--store=memory',
        '--shutdown-delay-duration=1m30.5s',
        '--service-cluster-ip-range=10.1.0.0/16,fd00::/108',
        '--service-node-port-range=31000-31099',
        '--advertise-address=192.0.2.7',
        '--feature-gates=APIResponseCompression=false',
        '--runtime-config=batch/v1=false',
        '--runtime-config=api/all=true,v1',
        '--data-dir=/a=b',
      ]),
    ).toEqual({
      ...defaultSettings,
      bindAddress: '::',
      securePort: 0,
      anonymousAuth: false,
      store: 'memory',
      shutdownDelayDuration: 90_500,
      serviceClusterIpRange: [
        { address: '10.1.0.0', prefix: 16 },
        { address: 'fd00::', prefix: 108 },
      ],
      serviceNodePortRange: { from: 31000, to: 31099 },
      advertiseAddress: '192.0.2.7',
      featureGates: new Map([['APIResponseCompression', false]]),
      runtimeConfig: new Map([
        ['batch/v1', false],
        ['api/all', true],
        ['v1', true],
      ]),
      dataDir: '/a=b',
    });
    expect(await read(['--anonymous-auth'], { ORCH_ANONYMOUS_AUTH: 'false' })).toMatchObject({ anonymousAuth: true });
  });

  it('prefers the command line over the environment over the file', async () => {
    const config = { 'secure-port': 1, 'data-dir': 'file', store: 'memory', 'runtime-config': { 'batch/v1': false } };
    const env = { ORCH_SECURE_PORT: '2', ORCH_DATA_DIR: 'env', ORCH_CONFIG: 'x.yaml' };
    expect(await read(['--secure-port=3', '--secure-port=4'], env, config)).toMatchObject({
      securePort: 4,
      dataDir: 'env',
      store: 'memory',
      runtimeConfig: new Map([['batch/v1', false]]),
    });
  });

  it.each([
    [
      '--feature-gates=WatchList=1, AllAlpha = F',
      new Map([
        ['WatchList', true],
        ['AllAlpha', false],
      ]),
      undefined,
    ],
    [
      '--runtime-config=batch/v1=0,v1=,apps/v1',
      undefined,
      new Map([
        ['batch/v1', false],
        ['v1', true],
        ['apps/v1', true],
      ]),
    ],
  ])('reads the truth values of the reference server: %s', async (argument, featureGates, runtimeConfig) => {
    expect(await read([argument])).toMatchObject({
      ...(featureGates === undefined ? {} : { featureGates }),
      ...(runtimeConfig === undefined ? {} : { runtimeConfig }),
    });
  });

  it('accepts lists in the file', async () => {
    const config = { 'service-cluster-ip-range': ['10.1.0.0/16', 'fd00::/108'] };
    expect(await read(['--config=x'], {}, config)).toMatchObject({
      serviceClusterIpRange: [{ prefix: 16 }, { prefix: 108 }],
    });
  });

  it.each<[string[], string]>([
    [['--secure-prot=1'], 'unknown flag "--secure-prot"; did you mean "secure-port"?'],
    [['--secure-prot', '1'], 'unknown flag "--secure-prot"; did you mean "secure-port"?'],
    [['--zzzzzzz'], 'unknown flag "--zzzzzzz"'],
    [['-store=lmdb'], 'unknown flag "-store"; did you mean "store"?'],
    [['serve'], 'unexpected argument "serve": a setting is written --name=value'],
    [['--anonymous-auth', 'false'], 'unexpected argument "false": a setting is written --name=value'],
    [['--data-dir', '--anonymous-auth'], '--data-dir needs a value: --data-dir=<folder>'],
    [['--data-dir='], '--data-dir="" must not be empty'],
    [['--secure-port=65536'], '--secure-port="65536" must be a whole number from 0 to 65535'],
    [['--secure-port=1e3'], '--secure-port="1e3" must be a whole number from 0 to 65535'],
    [['--anonymous-auth=yes'], '--anonymous-auth="yes" must be true or false'],
    [['--store=lmbd'], '--store="lmbd" must be one of lmdb, memory, etcd; did you mean "lmdb"?'],
    [
      ['--bind-address=localhost'],
      '--bind-address="localhost" must be an IP address, such as 127.0.0.1, 0.0.0.0 or ::',
    ],
    [['--shutdown-grace-period=30'], '--shutdown-grace-period="30" must be a duration such as 30s, 500ms or 1h30m'],
    [
      ['--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24'],
      '--service-cluster-ip-range="10.0.0.0/24,10.1.0.0/24" must be an address block such as 10.0.0.0/24, or one of IPv4 and one of IPv6 with a comma between',
    ],
    [
      ['--service-cluster-ip-range=10.0.0.0/24,fd00::/48'],
      '--service-cluster-ip-range="10.0.0.0/24,fd00::/48" must have blocks from /64 to /125; fd00::/48 is not',
    ],
    [
      ['--service-node-port-range=30000-70000'],
      '--service-node-port-range="30000-70000" must be a range of ports from 1 to 65535, such as 30000-32767',
    ],
    [
      ['--service-node-port-range=2-1'],
      '--service-node-port-range="2-1" must be a range of ports from 1 to 65535, such as 30000-32767',
    ],
    [
      ['--advertise-address=here'],
      '--advertise-address="here" must be an IP address, such as 127.0.0.1, 0.0.0.0 or ::',
    ],
    [['--api-domain=Example.org'], '--api-domain="Example.org" must be a domain such as example.org, in lower case'],
    [
      ['--feature-gates=APIResponseCompresion=true'],
      '--feature-gates="APIResponseCompresion=true" names an unknown feature "APIResponseCompresion"; did you mean "APIResponseCompression"?',
    ],
    [
      ['--feature-gates=AllBeta=maybe'],
      '--feature-gates="AllBeta=maybe" must be name=true or name=false, with commas between; "AllBeta=maybe" is not',
    ],
    [
      ['--feature-gates=WatchList'],
      '--feature-gates="WatchList" has no value for WatchList: write WatchList=true or WatchList=false',
    ],
    [
      ['--runtime-config=api/all=0'],
      '--runtime-config="api/all=0" has "0" for api/all, which takes true or false only',
    ],
    [
      ['--runtime-config=api/beat=false'],
      '--runtime-config="api/beat=false" names "api/beat", which is not part of an API; did you mean "api/beta"?',
    ],
    [['--tls-cert-file=a.crt'], '--tls-cert-file and --tls-private-key-file must be given together'],
    [['--kubelet-client-key=a.key'], '--kubelet-client-certificate and --kubelet-client-key must be given together'],
  ])('%j is rejected', async (argv, message) => expect(await problems(argv)).toEqual([message]));

  it('names the source of an invalid value, and reports all errors at once', async () => {
    const config = { 'secure-prot': 1, store: 'disk', 'data-dir': [['x']], config: 'y' };
    expect(await problems(['--config=x.yaml', '--nope'], { ORCH_SECURE_PORT: 'no' }, config)).toEqual([
      'unknown flag "--nope"',
      'secure-prot in x.yaml is an unknown setting; did you mean "secure-port"?',
      'data-dir in x.yaml must be a text, a number, true or false',
      'config in x.yaml would name another file: there can be one only',
      'ORCH_SECURE_PORT="no" must be a whole number from 0 to 65535',
      'store in x.yaml="disk" must be one of lmdb, memory, etcd',
    ]);
    expect(await problems(['--config=x.yaml'], {}, ['a'])).toEqual([
      'x.yaml must hold a map of settings, such as "secure-port: 6443"',
    ]);
  });
});

describe('readOptions', () => {
  const noFile = () => Promise.reject(new Error('no file was named'));

  it('returns the defaults of an embedded server', async () => {
    expect(await readOptions({}, noFile)).toEqual({
      ...defaultSettings,
      store: 'memory',
      dataDir: undefined,
      logLevel: undefined,
      controllersThread: false,
      kubeApiQps: 0,
    });
    expect(await readOptions({ store: undefined, securePort: undefined }, noFile)).toEqual(programSettings);
  });

  it('accepts values, and text as on the command line', async () => {
    const read = {
      securePort: 0,
      anonymousAuth: false,
      shutdownDelayDuration: 90_500,
      minRequestTimeout: 7,
      serviceNodePortRange: { from: 31000, to: 31099 },
      serviceClusterIpRange: [
        { address: '10.1.0.0', prefix: 16 },
        { address: 'fd00::', prefix: 108 },
      ],
      featureGates: new Map([['APIResponseCompression', false]]),
      disableAdmissionPlugins: ['Priority', 'LimitRanger'],
      tlsCertFile: undefined,
    };
    const values = {
      securePort: 0,
      anonymousAuth: false,
      shutdownDelayDuration: 90_500,
      minRequestTimeout: 7,
      serviceNodePortRange: '31000-31099',
      serviceClusterIpRange: ['10.1.0.0/16', 'fd00::/108'],
      featureGates: { APIResponseCompression: false },
      disableAdmissionPlugins: ['Priority', 'LimitRanger'],
    };
    const texts = {
      securePort: '0',
      anonymousAuth: 'false',
      shutdownDelayDuration: '1m30.5s',
      minRequestTimeout: '7',
      serviceNodePortRange: '31000-31099',
      serviceClusterIpRange: '10.1.0.0/16,fd00::/108',
      featureGates: 'APIResponseCompression=false',
      disableAdmissionPlugins: 'Priority,LimitRanger',
    };
    expect(await readOptions(values, noFile)).toMatchObject(read);
    expect(await readOptions(texts as object, noFile)).toMatchObject(read);
  });
});

describe('the table of flags', () => {
  it.each(flagList.map((flag) => [flag.name, flag] as const))('reads back the default of %s', (_, flag) => {
    const text = flag.type.format(flag.default);
    if (text !== '') expect(flag.type.parse(text)).toEqual({ value: flag.default });
  });
});
