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

  const manifest = (name: string, data: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}, namespace: shop, labels: { set: one } }\ndata: ${data}\n`;
  const get = (what: string, path: string) => kubectl('get', what, '-n', 'shop', '-o', `jsonpath=${path}`);

  it('applies from the client: what a manifest no longer says goes, what others set stays', async () => {
    const [one, two] = [file('one.yaml', manifest('applied', '{ a: x, b: x }')), manifest('applied', '{ b: v }')];
    expect(await kubectl('apply', '-f', one)).toBe('configmap/applied created\n');
    expect(await kubectl('apply', '-f', one)).toBe('configmap/applied unchanged\n');
    await kubectl('patch', 'cm', 'applied', '-n', 'shop', '-p', '{"data":{"c":"z"}}');
    expect(await kubectl('apply', '-f', file('two.yaml', two))).toBe('configmap/applied configured\n');
    expect(await get('cm/applied', '{.data}')).toBe('{"b":"v","c":"z"}');
  });

  it('applies at the server, and conflicts are told', async () => {
    const mine = file('mine.yaml', manifest('shared', '{ a: x, b: x }'));
    const theirs = file('theirs.yaml', manifest('shared', '{ a: v }'));
    expect(await kubectl('apply', '--server-side', '-f', mine)).toBe('configmap/shared serverside-applied\n');
    expect(await fails('apply', '--server-side', '--field-manager=ci', '-f', theirs)).toContain(
      'Apply failed with 1 conflict: conflict with "kubectl": .data.a',
    );
    await kubectl('apply', '--server-side', '--field-manager=ci', '--force-conflicts', '-f', theirs);
    expect(await get('cm/shared', '{.data}')).toBe('{"a":"v","b":"x"}');
    const owners = await kubectl(
      'get',
      'cm',
      'shared',
      '-n',
      'shop',
      '--show-managed-fields',
      '-o',
      'jsonpath={.metadata.managedFields[*].manager}',
    );
    // Those of one second are in the order of their names.
    expect(owners.split(' ').sort()).toEqual(['ci', 'kubectl']);
  });

  it('moves from applying at the client to applying at the server', async () => {
    await kubectl('apply', '-f', file('move.yaml', manifest('moved', '{ a: x, b: x }')));
    await kubectl('apply', '--server-side', '-f', file('move.yaml', manifest('moved', '{ a: v }')));
    expect(await get('cm/moved', '{.data}')).toBe('{"a":"v"}');
  });

  it('diff shows what an apply would change, and changes nothing', async () => {
    const changed = file('diff.yaml', manifest('applied', '{ b: z }'));
    const found: unknown = await kubectl('diff', '-f', changed).catch((error: unknown) => error);
    expect(found).toMatchObject({ code: 1, stdout: expect.stringMatching(/^- {2}b: v\n\+ {2}b: z$/m) as string });
    expect(await kubectl('diff', '-f', 'two.yaml')).toBe('');
    expect(await get('cm/applied', '{.data.b}')).toBe('v');
  });

  it('patches strategically by default, and sets an image', async () => {
    const containers = '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"example.com/s:1"}]}}}}';
    await kubectl('patch', 'deploy', 'web', '-n', 'shop', '-p', containers);
    await kubectl('set', 'image', 'deploy/web', 'side=example.com/s:2', '-n', 'shop');
    const images = (await get('deploy/web', '{.spec.template.spec.containers[*].image}')).split(' ').sort();
    expect(images).toEqual(['example.com/s:2', 'example.com/web:1']);
    await kubectl('scale', 'deploy/web', '--replicas=5', '-n', 'shop');
    expect(await get('deploy/web', '{.spec.replicas}')).toBe('5');
    await kubectl('rollout', 'restart', 'deploy/web', '-n', 'shop');
    expect(await get('deploy/web', '{.spec.template.metadata.annotations}')).toContain('restartedAt');
  });

  it('labels anew, and edits', async () => {
    await kubectl('label', 'cm', 'applied', '-n', 'shop', 'set=two', '--overwrite');
    expect(await get('cm/applied', '{.metadata.labels.set}')).toBe('two');
    const editor = join(server.folder, 'editor.sh');
    writeFileSync(editor, '#!/bin/sh\nsed -i "s/b: v$/b: edited/" "$1"\n', { mode: 0o755 });
    const env = { ...process.env, HOME: server.folder, KUBECONFIG: server.kubeconfig, KUBE_EDITOR: editor };
    const { stdout } = await promisify(execFile)('kubectl', ['edit', 'cm', 'applied', '-n', 'shop'], { env });
    expect(stdout).toBe('configmap/applied edited\n');
    expect(await get('cm/applied', '{.data.b}')).toBe('edited');
  });

  it('apply --prune deletes what is no longer in the set', async () => {
    const [both, one] = [`${manifest('kept', '{}')}---\n${manifest('pruned', '{}')}`, manifest('kept', '{}')].map(
      (text) => text.replaceAll('set: one', 'set: pruning'),
    ) as [string, string];
    const prune = ['--prune', '-l', 'set=pruning', '-n', 'shop', '--prune-allowlist=core/v1/ConfigMap'];
    await kubectl('apply', ...prune, '-f', file('set.yaml', both));
    expect(await kubectl('apply', ...prune, '-f', file('set.yaml', one))).toContain('configmap/pruned pruned\n');
    expect(await kubectl('get', 'cm', '-n', 'shop', '-l', 'set=pruning', '-o', 'name')).toBe('configmap/kept\n');
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
