import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configMap, type Kubectl, startKubectl } from './support/kubectl.ts';
import { hasKubectl } from './support/requirements.ts';

const deployment = (replicas: number, image: string) => `apiVersion: apps/v1
kind: Deployment
metadata: { name: web, labels: { app: web } }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
      - { name: web, image: "${image}", ports: [{ containerPort: 80 }], env: [{ name: A, value: "1" }] }
`;

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

// Changing what is there: apply from the client and at the server, patch, edit, set, label, rollout.
describe.skipIf(!hasKubectl())('kubectl changes objects', () => {
  let kubectl: Kubectl;
  beforeAll(async () => {
    kubectl = await startKubectl();
  });
  afterAll(() => kubectl.server.stop());

  interface Owner {
    readonly manager: string;
    readonly operation: string;
    readonly subresource?: string;
    readonly fieldsV1: { readonly [field: string]: object };
  }
  const ownersOf = async (what: string) => {
    const shown = await kubectl.run('get', what, '--show-managed-fields', '-o', 'json');
    return (JSON.parse(shown) as { metadata: { managedFields: Owner[] } }).metadata.managedFields;
  };
  /** Manager, operation and owned fields, in the order of the managers. */
  const owned = async (what: string) =>
    (await ownersOf(what))
      .map(({ manager, operation, fieldsV1 }) => [manager, operation, fieldsV1] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1));

  /** The environment in which `kubectl edit` changes one text into another. */
  const editing = (from: string, to: string) => {
    const editor = join(kubectl.server.folder, 'editor.sh');
    writeFileSync(editor, `#!/bin/sh\nsed -i 's/${from}/${to}/' "$1"\n`, { mode: 0o755 });
    return { KUBE_EDITOR: editor };
  };

  describe('apply from the client', () => {
    it('removes what the manifest no longer says and leaves what others set', async () => {
      const one = kubectl.file('one.yaml', configMap('applied', '{ a: x, b: x }'));
      expect(await kubectl.run('apply', '-f', one)).toBe('configmap/applied created\n');
      expect(await kubectl.run('apply', '-f', one)).toBe('configmap/applied unchanged\n');
      await kubectl.run('patch', 'cm', 'applied', '-p', '{"data":{"c":"z"}}');
      const two = kubectl.file('two.yaml', configMap('applied', '{ b: v }'));
      expect(await kubectl.run('apply', '-f', two)).toBe('configmap/applied configured\n');
      expect(await kubectl.read('cm/applied', '{.data}')).toBe('{"b":"v","c":"z"}');
      expect(await owned('cm/applied')).toEqual([
        [
          'kubectl-client-side-apply',
          'Update',
          {
            'f:data': { '.': {}, 'f:b': {} },
            'f:metadata': { 'f:annotations': { '.': {}, [`f:${lastApplied}`]: {} } },
          },
        ],
        ['kubectl-patch', 'Update', { 'f:data': { 'f:c': {} } }],
      ]);
    });

    it('keeps the last manifest, and takes one as such', async () => {
      const last = async (object: string) =>
        JSON.parse(await kubectl.run('apply', 'view-last-applied', object, '-o', 'json')) as object;
      expect(await last('cm/applied')).toMatchObject({ data: { b: 'v' } });
      await kubectl.run('create', '-f', kubectl.file('made.yaml', configMap('made', '{ a: x }')));
      await kubectl.run('apply', 'set-last-applied', '--create-annotation', '-f', 'made.yaml');
      expect(await last('cm/made')).toMatchObject({ data: { a: 'x' } });
      await kubectl.run('create', 'cm', 'unknown');
      expect(await kubectl.warns('apply', '-f', kubectl.file('unknown.yaml', configMap('unknown', '{}')))).toContain(
        `configmaps/unknown is missing the ${lastApplied} annotation`,
      );
    });

    it('merges lists by their keys', async () => {
      await kubectl.run('apply', '-f', kubectl.file('web.yaml', deployment(2, 'example.com/web:1')));
      const side = '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"example.com/side:1"}]}}}}';
      await kubectl.run('patch', 'deploy', 'web', '-p', side);
      await kubectl.run('apply', '-f', kubectl.file('web.yaml', deployment(3, 'example.com/web:2')));
      const images = await kubectl.read('deploy/web', '{.spec.replicas} {.spec.template.spec.containers[*].image}');
      expect(images.split(' ').sort()).toEqual(['3', 'example.com/side:1', 'example.com/web:2']);
    });

    it('prunes what is no longer in the set', async () => {
      const labels = '{ set: pruning }';
      const both = `${configMap('kept', '{}', labels)}---\n${configMap('pruned', '{}', labels)}`;
      const prune = ['--prune', '-l', 'set=pruning', '--prune-allowlist=core/v1/ConfigMap'];
      await kubectl.run('apply', ...prune, '-f', kubectl.file('set.yaml', both));
      await kubectl.run('label', 'cm', 'unknown', 'set=pruning');
      kubectl.file('set.yaml', configMap('kept', '{}', labels));
      expect(await kubectl.run('apply', ...prune, '-f', 'set.yaml', '--dry-run=server')).toContain(
        'configmap/pruned pruned (server dry run)\n',
      );
      const out = await kubectl.run('apply', ...prune, '-f', 'set.yaml');
      expect(out).toContain('configmap/pruned pruned\n');
      expect(await kubectl.run('get', 'cm', '-l', 'set=pruning', '-o', 'name')).toBe('configmap/kept\n');
    });
  });

  describe('apply at the server', () => {
    const mine = '{ a: x, b: x }';
    it('tells conflicts, and takes fields by force', async () => {
      kubectl.file('mine.yaml', configMap('shared', mine));
      kubectl.file('theirs.yaml', configMap('shared', '{ a: v }'));
      expect(await kubectl.run('apply', '--server-side', '-f', 'mine.yaml')).toBe(
        'configmap/shared serverside-applied\n',
      );
      const theirs = ['apply', '--server-side', '--field-manager=ci', '-f', 'theirs.yaml'];
      expect(await kubectl.fails(...theirs)).toMatch(
        /^error: Apply failed with 1 conflict: conflict with "kubectl": \.data\.a\nPlease review the fields above--/,
      );
      const { err } = await kubectl.ends(['apply', '--server-side', '-f', 'theirs.yaml', '--field-manager=x', '-v=8']);
      expect(err).toContain('FieldManagerConflict');
      expect(await kubectl.read('cm/shared', '{.data}')).toBe('{"a":"x","b":"x"}');
      await kubectl.run(...theirs, '--force-conflicts');
      expect(await kubectl.read('cm/shared', '{.data}')).toBe('{"a":"v","b":"x"}');
      expect(await owned('cm/shared')).toEqual([
        ['ci', 'Apply', { 'f:data': { 'f:a': {} } }],
        ['kubectl', 'Apply', { 'f:data': { 'f:b': {} } }],
      ]);
    });

    it('counts all fields in conflict', async () => {
      await kubectl.run('apply', '--server-side', '-f', kubectl.file('both.yaml', configMap('both', mine)));
      kubectl.file('both.yaml', configMap('both', '{ a: v, b: v }'));
      expect(await kubectl.fails('apply', '--server-side', '--field-manager=ci', '-f', 'both.yaml')).toMatch(
        /^error: Apply failed with 2 conflicts: conflicts with "kubectl":\n- \.data\.a\n- \.data\.b\n/,
      );
    });

    it('removes what its manager gives up, and shares what two say alike', async () => {
      const give = kubectl.file('give.yaml', configMap('shared', '{}'));
      const alike = kubectl.file('alike.yaml', configMap('shared', '{ a: v }'));
      await kubectl.run('apply', '--server-side', '-f', alike);
      await kubectl.run('apply', '--server-side', '--field-manager=ci', '-f', give);
      expect(await kubectl.read('cm/shared', '{.data}')).toBe('{"a":"v"}');
      await kubectl.run('apply', '--server-side', '-f', give);
      expect(await kubectl.read('cm/shared', '{.data}')).toBe('');
      const labelled = kubectl.file('labelled.yaml', configMap('labelled', '{ a: x }', '{ tier: front }'));
      await kubectl.run('apply', '--server-side', '-f', labelled);
      kubectl.file('labelled.yaml', configMap('labelled', '{ a: x }'));
      await kubectl.run('apply', '--server-side', '-f', labelled);
      expect(await kubectl.read('cm/labelled', '{.metadata.labels} {.data}')).toBe(' {"a":"x"}');
    });

    it('takes over what was applied from the client, and removes what its manifest then lacks', async () => {
      await kubectl.run('apply', '-f', kubectl.file('move.yaml', configMap('moved', mine)));
      await kubectl.run('apply', '--server-side', '-f', kubectl.file('move.yaml', configMap('moved', '{ a: v }')));
      expect(await kubectl.read('cm/moved', '{.data}')).toBe('{"a":"v"}');
      expect(await owned('cm/moved')).toEqual([
        ['kubectl', 'Apply', { 'f:data': { 'f:a': {} } }],
        ['kubectl-last-applied', 'Apply', { 'f:metadata': { 'f:annotations': { [`f:${lastApplied}`]: {} } } }],
      ]);
      const annotation = await kubectl.read('cm/moved', `{.metadata.annotations}`);
      expect(JSON.parse((JSON.parse(annotation) as { [name: string]: string })[lastApplied] ?? '')).toMatchObject({
        data: { a: 'v' },
      });
    });

    it('rehearses', async () => {
      const tried = kubectl.file('tried.yaml', configMap('tried', '{ a: x }'));
      expect(await kubectl.run('apply', '--server-side', '--dry-run=server', '-f', tried)).toBe(
        'configmap/tried serverside-applied (server dry run)\n',
      );
      expect(await kubectl.fails('get', 'cm', 'tried')).toContain('configmaps "tried" not found');
      kubectl.file('move.yaml', configMap('moved', '{ a: w }'));
      const shown = ['--server-side', '--dry-run=server', '-f', 'move.yaml', '-o', 'jsonpath={.data}'];
      expect(await kubectl.run('apply', ...shown)).toBe('{"a":"w"}');
      expect(await kubectl.read('cm/moved', '{.data}')).toBe('{"a":"v"}');
    });
  });

  it('diff shows what an apply would change, and changes nothing', async () => {
    const changed = kubectl.file('diff.yaml', configMap('applied', '{ b: z }'));
    const { code, out } = await kubectl.ends(['diff', '-f', changed]);
    expect([code, out]).toEqual([1, expect.stringMatching(/^- {2}b: v\n\+ {2}b: z$/m)]);
    const fresh = await kubectl.ends(['diff', '-f', kubectl.file('fresh.yaml', configMap('fresh', '{ b: z }'))]);
    expect([fresh.code, fresh.out]).toEqual([1, expect.stringMatching(/^\+kind: ConfigMap$/m)]);
    const server = await kubectl.ends(['diff', '--server-side', '--force-conflicts', '-f', changed]);
    expect([server.code, server.out]).toEqual([1, expect.stringMatching(/^\+ {2}b: z$/m)]);
    expect(await kubectl.run('diff', '-f', 'two.yaml')).toBe('');
    expect(await kubectl.read('cm/applied', '{.data.b}')).toBe('v');
  });

  describe('patch', () => {
    it('of every type', async () => {
      await kubectl.run('create', 'cm', 'patched', '--from-literal=color=red', '--from-literal=size=1');
      const patch = (type: string, text: string) => kubectl.run('patch', 'cm', 'patched', `--type=${type}`, '-p', text);
      const json = '[{"op":"test","path":"/data/size","value":"1"},{"op":"add","path":"/data/shape","value":"round"}]';
      expect(await patch('json', json)).toBe('configmap/patched patched\n');
      expect(await patch('merge', '{"data":{"color":null}}')).toBe('configmap/patched patched\n');
      expect(await patch('strategic', '{"data":{"$retainKeys":["shape"],"shape":"flat"}}')).toBe(
        'configmap/patched patched\n',
      );
      expect(await patch('merge', '{"data":{"shape":"flat"}}')).toBe('configmap/patched patched (no change)\n');
    });

    it('deletes from a list, and orders it', async () => {
      const containers = (text: string) => `{"spec":{"template":{"spec":{"containers":${text}}}}}`;
      await kubectl.run('patch', 'deploy', 'web', '-p', containers('[{"name":"side","$patch":"delete"}]'));
      expect(await kubectl.read('deploy/web', '{.spec.template.spec.containers[*].name}')).toBe('web');
      await kubectl.run('patch', 'deploy', 'web', '-p', containers('[{"name":"first","image":"example.com/f:1"}]'));
      expect(await kubectl.read('deploy/web', '{.spec.template.spec.containers[*].name}')).toBe('first web');
    });

    it('that cannot be done', async () => {
      const json = '[{"op":"test","path":"/data/size","value":"9"}]';
      expect(await kubectl.fails('patch', 'cm', 'patched', '--type=json', '-p', json)).toBe(
        'The request is invalid: the server rejected our request due to an error in our request\n',
      );
      const selector = '{"spec":{"selector":{"matchLabels":{"app":"other"}}}}';
      expect(await kubectl.fails('patch', 'deploy', 'web', '-p', selector)).toMatch(
        /^The Deployment "web" is invalid: \n(?:\* .*\n)?\* spec\.selector: Invalid value: .*: field is immutable\n$/,
      );
      expect(await kubectl.fails('patch', 'cm', 'absent', '-p', '{}')).toContain('configmaps "absent" not found');
    });

    it('of a subresource', async () => {
      const patch = (subresource: string, text: string) =>
        kubectl.run('patch', 'deploy', 'web', `--subresource=${subresource}`, '--type=merge', '-p', text);
      expect(await patch('status', '{"spec":{"replicas":9},"status":{"replicas":2}}')).toBe(
        'deployment.apps/web patched\n',
      );
      expect(await patch('scale', '{"spec":{"replicas":4}}')).toBe('scale.autoscaling/web patched\n');
      expect(await kubectl.read('deploy/web', '{.spec.replicas} {.status.replicas}')).toBe('4 2');
      expect(await kubectl.run('get', 'deploy', 'web', '--subresource=scale')).toMatch(
        /^NAME +DESIRED +AVAILABLE +AGE\nweb +4 +2 +\w+\n$/,
      );
      expect(await kubectl.read('deploy/web', '{.kind} {.status.selector}', '--subresource=scale')).toBe(
        'Scale app=web',
      );
      const owners = (await ownersOf('deploy/web')).filter(({ manager }) => manager === 'kubectl-patch');
      expect(owners.map(({ subresource = '' }) => subresource).sort()).toEqual(['', 'scale', 'status']);
    });
  });

  it('edits, the status too', async () => {
    const edited = await kubectl.ends(['edit', 'cm', 'applied'], editing('b: v$', 'b: edited'));
    expect([edited.code, edited.out]).toEqual([0, 'configmap/applied edited\n']);
    expect(await kubectl.read('cm/applied', '{.data.b}')).toBe('edited');
    const status = ['edit', 'deploy', 'web', '--subresource=status'];
    expect((await kubectl.ends(status, editing(' replicas: .*', ' replicas: 5'))).out).toBe(
      'deployment.apps/web edited\n',
    );
    expect(await kubectl.read('deploy/web', '{.spec.replicas} {.status.replicas}')).toBe('4 5');
    const none = await kubectl.ends(['edit', 'cm', 'applied'], { KUBE_EDITOR: 'true' });
    expect([none.code, none.out + none.err]).toEqual([0, 'Edit cancelled, no changes made.\n']);
    const wrong = await kubectl.ends(['edit', 'deploy', 'web'], editing(' replicas: 4', ' replicas: -1'));
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('deployments.apps "web" is invalid')]);
  });

  it('sets image, environment, resources and service account', async () => {
    const set = (...args: string[]) => kubectl.run('set', ...args);
    expect(await set('image', 'deploy/web', 'web=example.com/web:3')).toBe('deployment.apps/web image updated\n');
    expect(await set('env', 'deploy/web', 'A-', 'B=2')).toBe('deployment.apps/web env updated\n');
    expect(await set('resources', 'deploy/web', '-c=web', '--limits=cpu=100m')).toBe(
      'deployment.apps/web resource requirements updated\n',
    );
    expect(await set('serviceaccount', 'deploy/web', 'robot')).toBe('deployment.apps/web serviceaccount updated\n');
    const web = '.spec.template.spec.containers[?(@.name=="web")]';
    expect(await kubectl.read('deploy/web', `{${web}.image} {${web}.env[*].name} {${web}.resources.limits.cpu}`)).toBe(
      'example.com/web:3 B 100m',
    );
    expect(await kubectl.read('deploy/web', '{.spec.template.spec.serviceAccountName}')).toBe('robot');
  });

  it('labels and annotates, and replaces values only with --overwrite', async () => {
    await kubectl.run('label', 'cm', 'applied', 'tier=front');
    await kubectl.run('annotate', 'cm', 'applied', 'example.com/note=hello');
    expect(await kubectl.fails('label', 'cm', 'applied', 'tier=back')).toBe(
      "error: 'tier' already has a value (front), and --overwrite is false\n",
    );
    expect(await kubectl.run('label', 'cm', 'applied', 'tier=back', '--overwrite')).toBe('configmap/applied labeled\n');
    await kubectl.run('annotate', 'cm', 'applied', 'example.com/note=bye', '--overwrite');
    const note = `{.metadata.labels.tier} {.metadata.annotations.example\\.com/note}`;
    expect(await kubectl.read('cm/applied', note)).toBe('back bye');
    expect(await kubectl.run('get', 'cm', '-l', 'tier in (back)', '-o', 'name')).toBe('configmap/applied\n');
    expect(await kubectl.run('label', 'cm', 'applied', 'tier-')).toBe('configmap/applied unlabeled\n');
    expect(await kubectl.run('annotate', 'cm', 'applied', 'example.com/note-')).toBe('configmap/applied annotated\n');
    expect(await kubectl.read('cm/applied', note)).toBe(' ');
    expect(await kubectl.fails('label', 'cm', 'applied', 'a/b/c=x')).toContain('prefix');
  });

  describe('rollout', () => {
    it('restarts, pauses and resumes', async () => {
      const rollout = (verb: string) => kubectl.run('rollout', verb, 'deploy/web');
      expect(await rollout('restart')).toBe('deployment.apps/web restarted\n');
      expect(await kubectl.read('deploy/web', '{.spec.template.metadata.annotations}')).toContain('restartedAt');
      expect(await rollout('pause')).toBe('deployment.apps/web paused\n');
      expect(await kubectl.read('deploy/web', '{.spec.paused}')).toBe('true');
      expect(await kubectl.fails('rollout', 'restart', 'deploy/web')).toContain("can't restart paused deployment");
      expect(await rollout('resume')).toBe('deployment.apps/web resumed\n');
      expect(await kubectl.read('deploy/web', '{.spec.paused}')).toBe('');
    });

    it('waits until the status says that it is through', async () => {
      const status = kubectl.start('rollout', 'status', 'deploy/web', '--timeout=60s');
      await status.until(/Waiting for deployment/);
      const [generation = '', replicas = ''] = (
        await kubectl.read('deploy/web', '{.metadata.generation} {.spec.replicas}')
      ).split(' ');
      const counts = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'];
      const through = {
        observedGeneration: Number(generation),
        ...Object.fromEntries(counts.map((count) => [count, Number(replicas)])),
      };
      await kubectl.run(
        ...['patch', 'deploy', 'web', '--subresource=status', '--type=merge'],
        ...['-p', JSON.stringify({ status: through })],
      );
      expect(await status.ended).toBe(0);
      expect(status.printed()).toContain('deployment "web" successfully rolled out\n');
      expect(await kubectl.run('get', 'deploy', 'web')).toMatch(/^web +4\/4 +4 +4 /m);
    });

    it('tells the history, and goes back in it', async () => {
      const uid = await kubectl.read('deploy/web', '{.metadata.uid}');
      const revision = (number: number) => `apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-${number}
  labels: { app: web }
  annotations: { deployment.kubernetes.io/revision: "${number}" }
  ownerReferences: [{ apiVersion: apps/v1, kind: Deployment, name: web, uid: ${uid}, controller: true }]
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web, pod-template-hash: "${number}" } }
    spec: { containers: [{ name: web, image: "example.com/web:old-${number}" }] }
`;
      await kubectl.run('create', '-f', kubectl.file('sets.yaml', `${revision(1)}---\n${revision(2)}`));
      expect(await kubectl.run('rollout', 'history', 'deploy/web')).toMatch(
        /^deployment\.apps\/web *\nREVISION +CHANGE-CAUSE\n1 +<none>\n2 +<none>\n/,
      );
      expect(await kubectl.run('rollout', 'undo', 'deploy/web', '--to-revision=1')).toBe(
        'deployment.apps/web rolled back\n',
      );
      expect(await kubectl.read('deploy/web', '{.spec.template.spec.containers[*].image}')).toBe(
        'example.com/web:old-1',
      );
    });
  });
});
