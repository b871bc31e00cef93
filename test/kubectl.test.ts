import { execFile, execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from './support/server.ts';
import { tenKinds } from './support/ten-kinds.ts';

// A real kubectl against the real command, in the Kubernetes spelling.
const installed = (() => {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('SKIPPED: no kubectl is installed, so nothing here was tried with it');
    return false;
  }
})();

describe.skipIf(!installed)('kubectl', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await startServer(['--api-domain=k8s.io']);
    writeFileSync(join(server.folder, 'ten.yaml'), tenKinds('k8s.io'));
  });
  afterAll(() => server.stop());

  const kubectl = async (...args: string[]) => {
    const home = { ...process.env, HOME: server.folder, KUBECONFIG: server.kubeconfig };
    return (await promisify(execFile)('kubectl', args, { env: home, cwd: server.folder })).stdout;
  };
  const fails = async (...args: string[]) => {
    const error: unknown = await kubectl(...args).then(
      (out) => new Error(`unexpected success: ${out}`),
      (e: unknown) => e,
    );
    return String((error as { stderr?: string }).stderr ?? error);
  };
  const file = (name: string, content: string) => {
    writeFileSync(join(server.folder, name), content);
    return name;
  };

  it('lists the system namespaces', async () => {
    const rows = await kubectl('get', 'ns');
    for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
      expect(rows).toMatch(new RegExp(`^${name} +Active`, 'm'));
    }
  });

  it('api-resources knows kinds, short names and scopes', async () => {
    const rows = await kubectl('api-resources');
    expect(rows).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m);
    expect(rows).toMatch(/^namespaces +ns +v1 +false +Namespace$/m);
    expect(rows).toMatch(/^validatingwebhookconfigurations +admissionregistration\.k8s\.io\/v1 +false +/m);
  });

  it('explain walks into a type', async () => {
    const text = await kubectl('explain', 'deployment.spec.template.spec.containers.ports');
    expect(text).toContain('KIND:       Deployment');
    expect(text).toMatch(/containerPort\t<integer> -required-/);
    expect(text).toMatch(/protocol\t<string>/);
  });

  it('creates ten kinds from one file', async () => {
    const out = await kubectl('create', '-f', 'ten.yaml');
    expect(out.trim().split('\n')).toEqual([
      'namespace/shop created',
      'configmap/settings created',
      'secret/keys created',
      'serviceaccount/worker created',
      'service/web created',
      'deployment.apps/web created',
      'statefulset.apps/db created',
      'cronjob.batch/report created',
      'ingress.networking.k8s.io/web created',
      'role.rbac.authorization.k8s.io/reader created',
    ]);
  });

  it('refuses an unknown field by its path', async () => {
    const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: odd, namespace: shop }\ndatum: { a: b }\n';
    expect(await fails('create', '-f', file('odd.yaml', manifest))).toContain('unknown field "datum"');
  });

  it('gets as table, wide, YAML and jsonpath', async () => {
    expect(await kubectl('get', 'deployments', '-n', 'shop')).toMatch(
      /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0\/3 +0 +0 +\d+s\n$/,
    );
    expect(await kubectl('get', 'deploy', '-n', 'shop', '-o', 'wide')).toMatch(
      /CONTAINERS +IMAGES +SELECTOR\n.* web +example\.com\/web:1 +app=web\n$/,
    );
    expect(await kubectl('get', 'svc', '-n', 'shop')).toMatch(
      /^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE\nweb /,
    );
    expect(await kubectl('get', 'secrets', '-n', 'shop')).toMatch(/^keys +Opaque +1 +\d+s$/m);
    expect(await kubectl('get', 'cm', 'settings', '-n', 'shop', '-o', 'yaml')).toMatch(
      /^apiVersion: v1\ndata:\n {2}color: blue\n {2}size: "12"\nkind: ConfigMap\n/,
    );
    expect(await kubectl('get', 'secret', 'keys', '-n', 'shop', '-o', 'jsonpath={.data.password}')).toBe(
      Buffer.from('hunter2').toString('base64'),
    );
    expect(await kubectl('get', 'all', '-A', '-l', 'app=web', '-o', 'name')).toBe('service/web\ndeployment.apps/web\n');
  });

  it('get -w sees changes', async () => {
    const env = { ...process.env, HOME: server.folder, KUBECONFIG: server.kubeconfig };
    const watch = spawn('kubectl', ['get', 'cm', '-n', 'shop', '-w', '--output-watch-events'], { env });
    let seen = '';
    const until = (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => (seen.includes(text) ? resolve() : setTimeout(look, 20));
        look();
      });
    watch.stdout.on('data', (piece: Buffer) => {
      seen += piece.toString();
    });
    await until('settings');
    await kubectl('create', 'configmap', 'late', '-n', 'shop', '--from-literal=a=b');
    await until('late');
    await kubectl('delete', 'configmap', 'late', '-n', 'shop');
    await until('DELETED');
    watch.kill();
    expect(seen).toMatch(/^ADDED +settings +\d.*\n(?:.*\n)*ADDED +late +1 .*\nDELETED +late +1 /m);
  });

  it('makes objects from the command line, which newer releases send as protobuf', async () => {
    expect(await kubectl('create', 'deployment', 'made', '--image=example.com/i:1', '-n', 'shop')).toBe(
      'deployment.apps/made created\n',
    );
    expect(
      await kubectl('get', 'deploy', 'made', '-n', 'shop', '-o', 'jsonpath={.spec.template.spec.containers[0].image}'),
    ).toBe('example.com/i:1');
    expect(await kubectl('auth', 'can-i', 'delete', 'pods')).toBe('yes\n');
  });

  it('labels and annotates', async () => {
    await kubectl('label', 'cm', 'settings', '-n', 'shop', 'tier=front');
    await kubectl('annotate', 'cm', 'settings', '-n', 'shop', 'example.com/note=hello');
    expect(
      await kubectl('get', 'cm', '-n', 'shop', '-l', 'tier=front', '-o', 'jsonpath={.items[*].metadata.annotations}'),
    ).toBe('{"example.com/note":"hello"}');
  });

  it('replaces', async () => {
    const manifest =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings, namespace: shop }\ndata: { color: red }\n';
    expect(await kubectl('replace', '-f', file('replace.yaml', manifest))).toBe('configmap/settings replaced\n');
    expect(await kubectl('get', 'cm', 'settings', '-n', 'shop', '-o', 'jsonpath={.data}')).toBe('{"color":"red"}');
  });

  it('patches with JSON Patch and merge patch', async () => {
    await kubectl(
      'patch',
      'cm',
      'settings',
      '-n',
      'shop',
      '--type=json',
      '-p',
      '[{"op":"add","path":"/data/shape","value":"round"}]',
    );
    await kubectl('patch', 'cm', 'settings', '-n', 'shop', '--type=merge', '-p', '{"data":{"color":null}}');
    expect(await kubectl('get', 'cm', 'settings', '-n', 'shop', '-o', 'jsonpath={.data}')).toBe('{"shape":"round"}');
  });

  it('get --raw reads any path', async () => {
    expect(await kubectl('get', '--raw', '/readyz')).toBe('ok');
    expect(JSON.parse(await kubectl('get', '--raw', '/version'))).toMatchObject({ major: '1', minor: '33' });
  });

  it('deletes one and all', async () => {
    expect(await kubectl('delete', 'role', 'reader', '-n', 'shop')).toContain('"reader" deleted');
    expect(await kubectl('delete', 'cm', '--all', '-n', 'shop')).toContain('"settings" deleted');
    expect(await kubectl('get', 'cm,role', '-n', 'shop', '-o', 'name')).toBe('');
    expect(await fails('get', 'cm', 'settings', '-n', 'shop')).toContain(
      'Error from server (NotFound): configmaps "settings" not found',
    );
  });
});
