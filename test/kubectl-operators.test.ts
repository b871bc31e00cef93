import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Kubectl, startKubectl } from './support/kubectl.ts';
import { hasKubectl } from './support/requirements.ts';

// Definitions as operators ship them (test/definitions), driven as their users do.
describe.skipIf(!hasKubectl())('kubectl and custom types', () => {
  let kubectl: Kubectl;
  const definition = (file: string) => join(import.meta.dirname, 'definitions', file);
  /** Applies a manifest given as an object. */
  const apply = (object: object, ...flags: string[]) =>
    kubectl.ends(['apply', '-f', kubectl.file('object.json', JSON.stringify(object)), ...flags]);
  const columnsOf = (table: string) => table.split('\n').map((line) => line.trim().split(/ {2,}/));

  beforeAll(async () => {
    kubectl = await startKubectl();
    for (const file of ['certificates.yaml', 'workflows.yaml', 'databases.yaml']) {
      expect(await kubectl.run('apply', '-f', definition(file))).toMatch(/ created\n$/);
    }
    for (const name of ['certificates.pki', 'workflows.flow', 'databaseclusters.sql']) {
      await kubectl.run('wait', '--for=condition=Established', `crd/${name}.example.com`, '--timeout=60s');
    }
  });
  afterAll(() => kubectl.server.stop());

  it('lists them by category and short name', async () => {
    const resources = await kubectl.run('api-resources', '--api-group=flow.example.com', '--no-headers');
    expect(resources.trim().split(/ +/)).toEqual(['workflows', 'wf', 'flow.example.com/v1', 'true', 'Workflow']);
    const categories = await kubectl.run('api-resources', '--categories=databases', '-o', 'name');
    expect(categories).toBe('databaseclusters.sql.example.com\n');
  });

  describe('a certificate', () => {
    const certificate = (spec: object) => ({
      apiVersion: 'pki.example.com/v1',
      kind: 'Certificate',
      metadata: { name: 'web', namespace: 'default' },
      spec: { secretName: 'web-tls', issuerRef: { name: 'ca' }, dnsNames: ['www.example.com'], ...spec },
    });

    // The conformance suite looks for the openings of the texts about metadata.
    it('is explained', async () => {
      const text = await kubectl.run('explain', 'certificates.spec.privateKey');
      expect(text).toContain('GROUP:      pki.example.com');
      expect(text).toMatch(/algorithm\t<string>\n\s+enum: RSA, ECDSA, Ed25519/);
      expect(text).toContain('How the private key is made.');
      const whole = await kubectl.run('explain', 'certificates');
      expect(whole).toMatch(/apiVersion\t<string>\n\s+APIVersion defines.*spec\t<Object>/s);
      const metadata = await kubectl.run('explain', 'certificates.metadata');
      expect(metadata).toMatch(
        /Standard object's metadata.*creationTimestamp\t<string>\n\s+CreationTimestamp is a timestamp/s,
      );
      expect(metadata).not.toContain('<no description>');
      const older = await kubectl.run('explain', 'certificates.spec', '--api-version=pki.example.com/v1beta1');
      expect(older).toContain('secretName\t<string> -required-');
    });

    it('is applied with its defaults, and shown in a table', async () => {
      expect((await apply(certificate({}), '--server-side')).out).toContain('serverside-applied');
      const spec = JSON.parse(await kubectl.run('get', 'cert', 'web', '-o', 'jsonpath={.spec}'));
      expect(spec).toMatchObject({
        duration: '2160h',
        issuerRef: { name: 'ca', kind: 'Issuer', group: 'pki.example.com' },
        privateKey: { algorithm: 'ECDSA', encoding: 'PKCS8', rotationPolicy: 'Always' },
        usages: ['digital signature', 'key encipherment'],
      });
      const status = {
        conditions: [
          { type: 'Other', status: 'False' },
          { type: 'Ready', status: 'True', message: 'ok' },
        ],
      };
      await kubectl.run(
        'patch',
        'cert',
        'web',
        '--subresource=status',
        '--type=merge',
        '-p',
        JSON.stringify({ status }),
      );
      const [head, row] = columnsOf(await kubectl.run('get', 'certificates'));
      expect(head).toEqual(['NAME', 'READY', 'SECRET', 'EXPIRES', 'AGE']);
      expect(row?.slice(0, 3)).toEqual(['web', 'True', 'web-tls']);
      const [wide] = columnsOf(await kubectl.run('get', 'certificates', '-o', 'wide'));
      expect(wide).toEqual(['NAME', 'READY', 'SECRET', 'ISSUER', 'STATUS', 'EXPIRES', 'AGE']);
    });

    it.each([
      [
        { dnsNames: ['a.*.com'] },
        'spec.dnsNames[0]: Invalid value: "a.*.com": a wildcard must be the whole first label',
      ],
      [
        { ipAddresses: ['10.0.0.256'] },
        'spec.ipAddresses[0]: Invalid value: "10.0.0.256": "10.0.0.256" is not an IP address',
      ],
      [{ duration: '30m' }, 'spec.duration: Invalid value: a certificate is valid for an hour at least'],
      [
        { duration: '2h', renewBefore: '3h' },
        'spec.renewBefore: Invalid value: renewBefore must be less than duration',
      ],
      [
        { privateKey: { algorithm: 'RSA', size: 1000 } },
        'spec.privateKey.size: Invalid value: an RSA key has 2048, 3072, 4096 or 8192 bits',
      ],
      [
        { privateKey: { algorithm: 'Ed25519', size: 256 } },
        'spec.privateKey.size: Forbidden: an Ed25519 key has no size',
      ],
      [
        { isCA: true },
        'spec: Invalid value: a certificate that signs others has the usage "cert sign", and no other has',
      ],
      [{ secretName: 'other' }, 'spec.secretName: Invalid value: secretName is immutable'],
      [{ usages: ['to sign'] }, 'spec.usages[2]: Unsupported value: "to sign"'],
    ])('is refused with %j', async (spec, message) => {
      const { code, err } = await apply(certificate(spec), '--server-side');
      expect(code).toBe(1);
      expect(err).toContain(message);
    });

    it('is selected by a field', async () => {
      expect(await kubectl.run('get', 'cert', '-o', 'name', '--field-selector=spec.issuerRef.name=ca')).toBe(
        'certificate.pki.example.com/web\n',
      );
      expect(await kubectl.run('get', 'cert', '-o', 'name', '--field-selector=spec.issuerRef.name!=ca')).toBe('');
    });

    it('is served in a deprecated version, with a warning', async () => {
      const { out, err } = await kubectl.ends(['get', 'certificates.v1beta1.pki.example.com', 'web', '-o', 'yaml']);
      expect(out).toContain('apiVersion: pki.example.com/v1beta1\n');
      expect(err).toContain('Warning: pki.example.com/v1beta1 Certificate is deprecated; use pki.example.com/v1\n');
    });
  });

  describe('a workflow', () => {
    const task = (name: string, more: object = { container: { image: 'busybox' } }) => ({ name, ...more });
    const workflow = (spec: object) => ({
      apiVersion: 'flow.example.com/v1',
      kind: 'Workflow',
      metadata: { name: 'build', namespace: 'default' },
      spec: { entrypoint: 'deploy', tasks: [task('test'), task('deploy')], ...spec },
    });

    it('is applied, and keeps what its definition preserves', async () => {
      const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'out' }, data: { a: 'b' } };
      const tasks = [task('test', { resource: { manifest } }), task('deploy')];
      const parameters = [{ name: 'matrix', value: { any: ['thing', 1, null] } }];
      expect((await apply(workflow({ tasks, parameters }))).out).toContain('created');
      const spec = JSON.parse(await kubectl.run('get', 'wf', 'build', '-o', 'jsonpath={.spec}'));
      expect(spec).toMatchObject({ suspend: false, parallelism: 10, parameters });
      expect(spec.tasks[0].resource).toEqual({ manifest, action: 'create' });
    });

    it.each([
      [{ entrypoint: 'ship' }, 'spec.entrypoint: Invalid value: no task is named ship'],
      [
        { tasks: [task('deploy', { container: { image: 'a' }, suspend: {} })] },
        '<nil>: Invalid value: "": "spec.tasks[0]" must validate one and only one schema (oneOf). Found 2 valid alternatives',
      ],
      [
        { tasks: [{ ...task('deploy'), dependsOn: ['deploy'] }] },
        'spec.tasks[0].dependsOn: Invalid value: task deploy depends on itself',
      ],
      [
        { tasks: [{ ...task('deploy'), dependsOn: ['nothing'] }] },
        'spec.tasks: Invalid value: a task depends on a task that does not exist',
      ],
      [{ tasks: [task('deploy'), task('deploy')] }, 'spec.tasks[1]: Duplicate value: {"name":"deploy"}'],
      [
        { parallelism: 0 },
        'spec.parallelism: Invalid value: 0: spec.parallelism in body should be greater than or equal to 1',
      ],
      [
        { parameters: [{ name: 'p' }] },
        '"spec.parameters[0]" must validate one and only one schema (oneOf). Found none valid',
      ],
    ])('is refused with %j', async (spec, message) => {
      const { code, err } = await apply({ ...workflow(spec), metadata: { name: 'bad', namespace: 'default' } });
      expect(code).toBe(1);
      expect(err).toContain(message);
    });

    it('cannot change its entrypoint', async () => {
      const patch = JSON.stringify({ spec: { entrypoint: 'test' } });
      const { err } = await kubectl.ends(['patch', 'wf', 'build', '--type=merge', '-p', patch]);
      expect(err).toContain('spec.entrypoint: Forbidden: entrypoint is immutable');
    });

    it('is pruned of unknown fields, which are refused on request', async () => {
      const unknown = { ...workflow({ colour: 'red' }), metadata: { name: 'unknown', namespace: 'default' } };
      expect((await apply(unknown, '--validate=strict')).err).toContain('unknown field "spec.colour"');
      expect((await apply(unknown, '--validate=warn')).err).toContain('Warning: unknown field "spec.colour"');
      expect(await kubectl.run('get', 'wf', 'unknown', '-o', 'jsonpath={.spec.colour}')).toBe('');
    });
  });

  describe('a cluster of databases', () => {
    const cluster = (spec: object) => ({
      apiVersion: 'sql.example.com/v1',
      kind: 'DatabaseCluster',
      metadata: { name: 'orders', namespace: 'default' },
      spec: { engine: 'postgresql', version: '16.4', instances: 3, storage: { size: '10Gi' }, ...spec },
    });

    it('is applied, scaled and shown', async () => {
      expect((await apply(cluster({}))).out).toContain('created');
      expect(await kubectl.run('scale', 'dbc/orders', '--replicas=5')).toContain('scaled');
      const members = [
        { name: 'orders-1', role: 'replica' },
        { name: 'orders-2', role: 'primary' },
      ];
      const status = { readyInstances: 4, members };
      await kubectl.run(
        'patch',
        'dbc',
        'orders',
        '--subresource=status',
        '--type=merge',
        '-p',
        JSON.stringify({ status }),
      );
      const [head, row] = columnsOf(await kubectl.run('get', 'dbc'));
      expect(head).toEqual(['NAME', 'ENGINE', 'VERSION', 'INSTANCES', 'READY', 'PRIMARY', 'AGE']);
      expect(row?.slice(0, 6)).toEqual(['orders', 'postgresql', '16.4', '5', '4', 'orders-2']);
    });

    it.each([
      [{ version: '15.0' }, 'spec.version: Forbidden: the version cannot be lowered from 16.4 to 15.0'],
      [{ version: 'latest' }, 'spec.version: Invalid value: "latest": must be a version such as 16.4'],
      [
        { storage: { size: '5Gi' } },
        'spec.storage.size: Invalid value: "5Gi": the volumes cannot shrink from 10Gi to 5Gi',
      ],
      [{ engine: 'mysql' }, 'spec.engine: Invalid value: engine is immutable'],
      [
        { replication: { mode: 'sync' } },
        'spec.replication.synchronousReplicas: Required value: required unless the mode is async',
      ],
      [
        { replication: { mode: 'sync', synchronousReplicas: 9 } },
        'spec.replication.synchronousReplicas: Invalid value: synchronousReplicas must be less than instances',
      ],
      [{ users: [{ name: 'root' }] }, 'spec.users[0].name: Invalid value: the user root is reserved'],
      [
        { databases: [{ name: 'a', owner: 'b' }], users: [{ name: 'c' }] },
        'spec.databases: Invalid value: the owner of each database must be one of the users',
      ],
      [
        { backup: { destination: 'ftp://a/b' } },
        'spec.backup.destination: Invalid value: "ftp://a/b": must be a URL of s3, gs or https',
      ],
      [
        { instances: 16 },
        'spec.instances: Invalid value: 16: spec.instances in body should be less than or equal to 15',
      ],
    ])('is refused with %j', async (spec, message) => {
      const { code, err } = await apply(cluster(spec));
      expect(code).toBe(1);
      expect(err).toContain(message);
    });

    it('merges its users by name and host', async () => {
      const applied = (manager: string, host: string) =>
        apply(
          { ...cluster({}), spec: { users: [{ name: 'app', host }] } },
          '--server-side',
          `--field-manager=${manager}`,
        );
      expect((await applied('one', 'a')).code).toBe(0);
      expect((await applied('two', 'b')).code).toBe(0);
      const hosts = await kubectl.run('get', 'dbc', 'orders', '-o', 'jsonpath={.spec.users[*].host}');
      expect(hosts).toBe('a b');
    });

    it('is deleted with its definition', async () => {
      expect(await kubectl.run('delete', 'crd', 'databaseclusters.sql.example.com')).toContain('deleted');
      const { err } = await kubectl.ends(['get', 'dbc']);
      expect(err).toContain('the server could not find the requested resource');
    });
  });
});
