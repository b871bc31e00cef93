import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiObject } from '../../meta/index.ts';
import { type CtlBench, ctlBench } from '../testing/run-ctl.ts';

let bench: CtlBench;
const versions: string[] = [];
const place = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
const settings = { ...place, name: 'settings' };

beforeAll(async () => {
  bench = await ctlBench({ objectHistory: true });
  const { client } = bench.server;
  const write = async (data: object, fieldManager: string) => {
    const { metadata } = await client.apply(
      settings,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data } as never,
      { fieldManager, force: true },
    );
    versions.push(metadata.resourceVersion ?? '');
  };
  await write({ colour: 'red' }, 'alice');
  await write({ colour: 'green' }, 'alice');
  await write({ size: '3' }, 'bob');
  await write({ colour: 'blue', size: '3' }, 'alice');
});
afterAll(() => bench.close());

/** The rows of a table, each split into its cells. */
const rowsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

describe('history', () => {
  it('shows when, by whom and what was changed, the newest version first', async () => {
    const { status, stdout, stderr } = await bench.run('history', 'configmap', 'settings');
    expect([status, stderr]).toEqual([0, '']);
    const [header, ...rows] = rowsOf(stdout);
    expect(header).toEqual(['RESOURCEVERSION', 'AGE', 'MANAGER', 'OPERATION', 'CHANGES']);
    expect(rows.map(([version, , ...rest]) => [version, ...rest])).toEqual([
      [versions[3], 'alice', 'Apply', 'data.colour: green -> blue'],
      [versions[2], 'bob', 'Apply', '+data.size: 3'],
      [versions[1], 'alice', 'Apply', 'data.colour: red -> green'],
      [versions[0], 'alice', 'Create', 'created'],
    ]);
  });

  it('shows the users that the audit log names by the version that a write returned', async () => {
    const { metadata } = await bench.server.client.get(settings);
    const event = (verb: string, user: object, version: string | undefined, more: object = {}) =>
      JSON.stringify({
        ...{ stage: 'ResponseComplete', verb, requestURI: '/', user, responseStatus: { code: 200 }, ...more },
        ...(version && { responseObject: { metadata: { uid: metadata.uid, resourceVersion: version } } }),
      });
    const [jane, joe, eve] = ['jane', 'joe', 'eve'].map((username) => ({ username })) as [object, object, object];
    const lines = [
      event('create', jane, versions[0]),
      event('get', eve, versions[1]),
      event('patch', joe, versions[1]),
      event('patch', eve, versions[1], { requestURI: '/?dryRun=All' }),
      event('update', eve, versions[1], { responseStatus: { code: 409 } }),
      // Metadata alone does not tell the version.
      event('patch', joe, undefined, { objectRef: { name: 'settings', uid: metadata.uid } }),
      'not JSON',
      event('patch', jane, versions[3], { impersonatedUser: joe }),
      event('patch', eve, versions[3]),
    ];
    const file = join(bench.folder, 'audit.log');
    writeFileSync(file, lines.join('\n'));
    const { stdout, stderr } = await bench.run('history', 'cm/settings', '--audit-log=audit.log');
    expect(stderr).toBe('');
    expect(rowsOf(stdout).map(([version, , user]) => [version, user])).toEqual([
      ['RESOURCEVERSION', 'USER'],
      [versions[3], 'joe (by jane) or eve'],
      [versions[2], '<unknown>'],
      [versions[1], 'joe'],
      [versions[0], 'jane'],
    ]);
    expect((await bench.run('history', 'cm/settings', '--audit-log=absent')).stderr).toMatch(/absent cannot be read/);
  });

  it('stops at the limit, and prints the versions themselves as JSON', async () => {
    const { stdout } = await bench.run('history', 'cm/settings', '--limit=2', '--no-headers');
    expect(rowsOf(stdout).map(([version, , , , changes]) => [version, changes])).toEqual([
      [versions[3], 'data.colour: green -> blue'],
      [versions[2], '<see --limit>'],
    ]);
    const json = JSON.parse((await bench.run('history', 'cm/settings', '--limit=1', '-o', 'json')).stdout);
    expect(json).toMatchObject({ kind: 'List', items: [{ data: { colour: 'blue', size: '3' } }] });
  });

  it('begins with the deletion of an object that is gone', async () => {
    const { client } = bench.server;
    const gone = { ...place, name: 'gone' };
    await client.create(place, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'gone' } } as never);
    await client.delete(gone);
    const { status, stdout } = await bench.run('history', 'configmap', 'gone', '--no-headers');
    expect(status).toBe(0);
    expect(rowsOf(stdout).map(([, , , operation, changes]) => [operation, changes])).toEqual([
      ['Delete', 'deleted'],
      ['Create', 'created'],
    ]);
    expect(await bench.run('history', 'configmap', 'never')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'Error from server (NotFound): configmaps "never" not found\n',
    });
  });

  it('shows no values of secrets', async () => {
    const secrets = { ...place, resource: 'secrets' };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { password: 'one' } };
    await bench.server.client.create(secrets, secret as never);
    await bench.server.client.patch({ ...secrets, name: 's' }, 'merge', { stringData: { password: 'two' } });
    const { stdout } = await bench.run('history', 'secret', 's', '--no-headers');
    expect(rowsOf(stdout).map(([, , , , changes]) => changes)).toEqual(['data.password', 'created']);
  });

  it('says when a server does not read former versions', async () => {
    const plain = await ctlBench();
    await plain.server.client.create(place, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } } as never);
    await plain.server.client.patch({ ...place, name: 'a' }, 'merge', { data: { a: '1' } });
    expect(await plain.run('history', 'configmap', 'a')).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'Error from server (NotImplemented): the server does not read former versions of objects: it must run with --object-history\n',
    });
    await plain.close();
  });

  it('needs one object', async () => {
    const { status, stderr } = await bench.run('history', 'configmaps');
    expect([status, stderr]).toEqual([
      1,
      "error: exactly one object is required: TYPE NAME or TYPE/NAME\nSee 'orch ctl history -h' for help and examples\n",
    ]);
  });
});

describe('undo', () => {
  it('restores a former version by an update, and only checks it with --dry-run=server', async () => {
    const data = async () => ((await bench.server.client.get(settings)) as unknown as { data: object }).data;
    const dry = await bench.run('undo', 'configmap', 'settings', `--to=${versions[1]}`, '--dry-run=server');
    expect(dry.stdout).toBe(`configmap/settings restored from version ${versions[1]} (server dry run)\n`);
    expect(await data()).toEqual({ colour: 'blue', size: '3' });
    const { status, stdout, stderr } = await bench.run('undo', 'configmap/settings', `--to=${versions[1]}`);
    expect([status, stdout, stderr]).toEqual([0, `configmap/settings restored from version ${versions[1]}\n`, '']);
    expect(await data()).toEqual({ colour: 'green' });
  });

  it('creates a deleted object again', async () => {
    const { client } = bench.server;
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'lost', labels: { a: 'b' } },
      data: { n: '1' },
    };
    const { metadata } = await client.create<ApiObject>(place, body as never);
    await client.delete({ ...place, name: 'lost' });
    const { stdout } = await bench.run('undo', 'configmap', 'lost', `--to=${metadata.resourceVersion}`);
    expect(stdout).toBe(`configmap/lost created again from version ${metadata.resourceVersion}\n`);
    const restored = await client.get<ApiObject>({ ...place, name: 'lost' });
    expect(restored).toMatchObject({ metadata: { labels: { a: 'b' } }, data: { n: '1' } });
    expect(restored.metadata.uid).not.toBe(metadata.uid);
  });

  it('fails for a version at which the object did not exist', async () => {
    const { status, stderr } = await bench.run('undo', 'configmap', 'settings', `--to=${Number(versions[0]) - 1}`);
    expect([status, stderr]).toEqual([
      1,
      `error: configmap/settings did not exist at version ${Number(versions[0]) - 1}\n`,
    ]);
    expect((await bench.run('undo', 'configmap', 'settings', '--to=soon')).stderr).toBe(
      'error: "soon" is neither a resourceVersion nor a duration such as 5m or 1h30m\n',
    );
  });
});

describe('blame', () => {
  it('shows the owners before each line', async () => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owned' } };
    const owned = { ...place, name: 'owned' };
    await bench.server.client.apply(owned, { ...body, data: { a: '1', b: '2' } } as never, { fieldManager: 'alice' });
    await bench.server.client.apply(owned, { ...body, data: { b: '2', c: '3' } } as never, { fieldManager: 'bob' });
    const { status, stdout } = await bench.run('blame', 'configmap', 'owned');
    expect(status).toBe(0);
    const lines = stdout.split('\n').map((line) => line.replaceAll(/ +/g, ' ').replaceAll(/\d+s/g, '1s'));
    expect(lines).toContain('alice Apply 1s | a: "1"');
    expect(lines.find((line) => line.endsWith('| b: "2"'))).toMatch(/^(?:alice,bob|bob,alice) Apply,Apply 1s,1s \|/);
    expect(lines).toContain('- - - | kind: ConfigMap');
    expect(stdout).not.toContain('managedFields');
  });
});

describe('tree', () => {
  it('shows the owners of an object and its dependents, with their readiness', async () => {
    const { client } = bench.server;
    const made = async (name: string, owner?: { name?: string | undefined; uid?: string | undefined }) => {
      const { name: ownerName, uid } = owner ?? {};
      const ownerReferences = owner && [{ apiVersion: 'v1', kind: 'ConfigMap', name: ownerName, uid }];
      const metadata = { name, ...(ownerReferences && { ownerReferences }) };
      return (await client.create<ApiObject>(place, { apiVersion: 'v1', kind: 'ConfigMap', metadata } as never))
        .metadata;
    };
    const root = await made('root');
    const child = await made('child', root);
    await made('leaf', child);
    await made('sibling', root);
    const { uid } = child;
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'claim', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'child', uid }] },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    await client.create({ ...place, resource: 'persistentvolumeclaims' }, claim as never);
    const { status, stdout, stderr } = await bench.run('tree', 'configmap', 'child');
    expect([status, stderr]).toEqual([0, '']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/ {2,}\S+$/, '').replace(/ {2,}(\S+)$/, ' $1'));
    expect(lines).toEqual([
      'NAME READY',
      'configmap/root -',
      '└─configmap/child -',
      '  ├─configmap/leaf -',
      '  └─persistentvolumeclaim/claim Pending',
    ]);
  });
});
