import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configMap, type Kubectl, startKubectl } from './support/kubectl.ts';
import { hasKubectl } from './support/requirements.ts';

/** Lists of everything that the rehearsals below could touch. */
const touched = [
  '/api/v1/namespaces/default/configmaps',
  '/api/v1/namespaces/default/pods',
  '/api/v1/namespaces/default/services',
  '/apis/apps/v1/namespaces/default/deployments',
  '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
];

// How a write is meant: made from the command line, rehearsed, strict about fields, scaled, deleted in which way.
describe.skipIf(!hasKubectl())('kubectl writes', () => {
  let kubectl: Kubectl;
  beforeAll(async () => {
    kubectl = await startKubectl();
    await kubectl.run('create', 'serviceaccount', 'default');
    await kubectl.run('create', 'cm', 'kept', '--from-literal=a=x');
    await kubectl.run('create', 'deployment', 'web', '--image=example.com/web:1', '--replicas=2', '--port=80');
  });
  afterAll(() => kubectl.server.stop());

  describe('objects made from the command line', () => {
    // Each command, and the text that a JSONPath then finds in which object.
    const rows: readonly [command: string, object: string, path: string, found: string][] = [
      ['deployment made --image=example.com/i:1', 'deploy/made', '{..image} {.spec.replicas}', 'example.com/i:1 1'],
      ['job once --image=example.com/i:1 -- date', 'job/once', '{..command} {..restartPolicy}', '["date"] Never'],
      [
        'cronjob often --image=example.com/i:1 --schedule=@hourly',
        'cj/often',
        '{.spec.schedule} {.spec.concurrencyPolicy}',
        '@hourly Allow',
      ],
      [
        'job now --from=cronjob/often',
        'job/now',
        '{.metadata.ownerReferences[0].name} {..image}',
        'often example.com/i:1',
      ],
      [
        'configmap words --from-literal=a=b --from-file=hello.txt',
        'cm/words',
        '{.data}',
        '{"a":"b","hello.txt":"hello"}',
      ],
      ['configmap lines --from-env-file=env.txt', 'cm/lines', '{.data}', '{"A":"b"}'],
      ['secret generic key --from-literal=p=q', 'secret/key', '{.type} {.data.p}', 'Opaque cQ=='],
      [
        'secret docker-registry hub --docker-username=u --docker-password=p',
        'secret/hub',
        '{.type}',
        'kubernetes.io/dockerconfigjson',
      ],
      ['role reader --verb=get,list --resource=pods', 'role/reader', '{.rules[0].verbs}', '["get","list"]'],
      ['clusterrole nodes --verb=get --resource=nodes', 'clusterrole/nodes', '{.rules[0].resources}', '["nodes"]'],
      [
        'rolebinding read --role=reader --user=bob',
        'rolebinding/read',
        '{.roleRef.name} {.subjects[0].name}',
        'reader bob',
      ],
      [
        'clusterrolebinding see --clusterrole=nodes --group=ops',
        'clusterrolebinding/see',
        '{.roleRef.kind} {.subjects[0].kind}',
        'ClusterRole Group',
      ],
      [
        'quota small --hard=pods=20,requests.cpu=1500m',
        'quota/small',
        '{.spec.hard}',
        '{"pods":"20","requests.cpu":"1500m"}',
      ],
      ['pdb half --selector=app=web --min-available=50%', 'pdb/half', '{.spec.minAvailable}', '50%'],
      ['priorityclass high --value=10', 'pc/high', '{.value} {.preemptionPolicy}', '10 PreemptLowerPriority'],
      ['ingress in --rule=example.com/*=web:80', 'ingress/in', '{..pathType} {..backend.service.name}', 'Prefix web'],
      ['namespace other', 'ns/other', '{.status.phase} {.spec.finalizers}', 'Active ["kubernetes"]'],
      ['serviceaccount robot', 'sa/robot', '{.metadata.name}', 'robot'],
      ['service externalname away --external-name=example.com', 'svc/away', '{.spec.type}', 'ExternalName'],
    ];

    it.each(rows)('create %s', async (command, object, path, found) => {
      kubectl.file('hello.txt', 'hello');
      kubectl.file('env.txt', 'A=b\n');
      expect(await kubectl.run('create', ...command.split(' '))).toMatch(/ created\n$/);
      expect(await kubectl.read(object, path)).toBe(found);
    });

    it('run, expose, autoscale', async () => {
      expect(
        await kubectl.run('run', 'one', '--image=example.com/i:1', '--port=80', '--env=A=b', '--labels=app=one'),
      ).toBe('pod/one created\n');
      expect(await kubectl.read('pod/one', '{..containers[0].env[0].value} {.status.phase}')).toBe('b Pending');
      expect(await kubectl.run('expose', 'pod', 'one', '--name=front', '--port=8080', '--target-port=80')).toBe(
        'service/front exposed\n',
      );
      const ports = '{.spec.selector} {.spec.ports[0].port} {.spec.ports[0].targetPort}';
      expect(await kubectl.read('svc/front', ports)).toBe('{"app":"one"} 8080 80');
      expect(await kubectl.run('expose', 'deploy', 'web')).toBe('service/web exposed\n');
      expect(await kubectl.run('autoscale', 'deploy', 'web', '--min=2', '--max=5', '--cpu-percent=80')).toBe(
        'horizontalpodautoscaler.autoscaling/web autoscaled\n',
      );
      expect(await kubectl.run('get', 'hpa')).toMatch(/^web +Deployment\/web +.*<unknown>\/80% +2 +5 +0 +\w+$/m);
    });
  });

  describe('--dry-run=server', () => {
    const state = async () => {
      const found: object[] = [];
      for (const place of touched) {
        const { body } = await kubectl.server.request('GET', place);
        found.push(...(body as { items: object[] }).items);
      }
      return found;
    };
    const rehearsals: readonly [args: string, printed: string][] = [
      ['create cm tried --from-literal=a=b', 'configmap/tried created (server dry run)'],
      ['run tried --image=example.com/i:1', 'pod/tried created (server dry run)'],
      ['apply -f tried.yaml', 'configmap/tried created (server dry run)'],
      ['apply -f tried.yaml --server-side', 'configmap/tried serverside-applied (server dry run)'],
      ['replace -f kept.yaml', 'configmap/kept replaced (server dry run)'],
      ['delete cm kept', 'configmap "kept" deleted (server dry run)'],
      ['delete cm --all', 'configmap "kept" deleted (server dry run)'],
      ['scale deploy web --replicas=7', 'deployment.apps/web scaled (server dry run)'],
      ['label cm kept tier=x', 'configmap/kept labeled (server dry run)'],
      ['annotate cm kept tier=x', 'configmap/kept annotate'],
      ['set image deploy/web web=example.com/web:9', 'deployment.apps/web image updated (server dry run)'],
      ['autoscale deploy web --max=3 --name=tried', '/tried autoscaled (server dry run)'],
      ['expose deploy web --name=tried', 'service/tried exposed (server dry run)'],
    ];

    it.each(rehearsals)('%s', async (args, printed) => {
      kubectl.file('tried.yaml', configMap('tried', '{ a: b }'));
      kubectl.file('kept.yaml', configMap('kept', '{ a: other }'));
      const before = await state();
      expect(await kubectl.run(...args.split(' '), '--dry-run=server')).toContain(printed);
      expect(await state()).toEqual(before);
    });

    it('shows what would be', async () => {
      const before = await state();
      const patch = ['patch', 'cm', 'kept', '-p', '{"data":{"b":"y"}}', '--dry-run=server', '-o', 'jsonpath={.data}'];
      expect(await kubectl.run(...patch)).toBe('{"a":"x","b":"y"}');
      const made = ['create', 'deployment', 'tried', '--image=example.com/i:1', '--dry-run=server', '-o', 'json'];
      expect(JSON.parse(await kubectl.run(...made))).toMatchObject({
        metadata: { generation: 1, uid: expect.any(String) as string },
        spec: { progressDeadlineSeconds: 600 },
      });
      expect(await kubectl.fails('create', 'cm', 'kept', '--dry-run=server')).toContain('already exists');
      expect(await state()).toEqual(before);
    });
  });

  describe('--validate', () => {
    const odd = `${configMap('odd', '{ a: x }').replace('name: odd', 'name: odd, colour: red')}datum: { a: b }\n`;
    const create = (how: string) => ['create', '-f', kubectl.file('odd.yaml', odd), `--validate=${how}`];

    it('strict refuses what nobody knows, and says where', async () => {
      expect(await kubectl.fails(...create('strict'))).toBe(
        'Error from server (BadRequest): error when creating "odd.yaml": ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "datum", unknown field "metadata.colour"\n',
      );
      expect(await kubectl.fails('get', 'cm', 'odd')).toContain('not found');
    });

    it('warn tells of it and goes on', async () => {
      expect(await kubectl.warns(...create('warn'))).toBe(
        'Warning: unknown field "datum"\nWarning: unknown field "metadata.colour"\n',
      );
      expect(await kubectl.read('cm/odd', '{.data} {.datum}')).toBe('{"a":"x"} ');
      await kubectl.run('delete', 'cm', 'odd');
    });

    it('ignore says nothing', async () => {
      expect(await kubectl.warns(...create('ignore'))).toBe('');
      expect(await kubectl.read('cm/odd', '{.data}')).toBe('{"a":"x"}');
    });

    it('holds for replace and apply', async () => {
      expect(await kubectl.fails('replace', '-f', 'odd.yaml', '--validate=strict')).toContain(
        'strict decoding error: unknown field "datum", unknown field "metadata.colour"',
      );
      expect(await kubectl.fails('apply', '-f', 'odd.yaml', '--validate=strict')).toContain('unknown field "datum"');
      expect(await kubectl.warns('apply', '-f', 'odd.yaml', '--validate=warn')).toContain(
        'Warning: unknown field "datum"\n',
      );
      expect(await kubectl.fails('apply', '--server-side', '-f', 'odd.yaml', '--validate=warn')).toMatch(
        /field not declared in schema/,
      );
    });
  });

  it('scale, from what there is now only if asked for', async () => {
    const scale = ['scale', 'deploy', 'web', '--replicas=5'];
    expect(await kubectl.fails(...scale, '--current-replicas=9')).toBe('error: Expected replicas to be 9, was 2\n');
    expect(await kubectl.run(...scale, '--current-replicas=2')).toBe('deployment.apps/web scaled\n');
    expect(await kubectl.read('deploy/web', '{.spec.replicas} {.metadata.generation}')).toBe('5 2');
    const sets = ['StatefulSet', 'ReplicaSet'].map(
      (kind) => `apiVersion: apps/v1
kind: ${kind}
metadata: { name: few }
spec:
  ${kind === 'StatefulSet' ? 'serviceName: few' : ''}
  selector: { matchLabels: { app: few } }
  template: { metadata: { labels: { app: few } }, spec: { containers: [{ name: c, image: "example.com/i:1" }] } }
`,
    );
    const controller = `apiVersion: v1
kind: ReplicationController
metadata: { name: few }
spec: { template: { metadata: { labels: { app: few } }, spec: { containers: [{ name: c, image: "example.com/i:1" }] } } }
`;
    await kubectl.run('create', '-f', kubectl.file('few.yaml', [...sets, controller].join('---\n')));
    await kubectl.run('scale', 'sts/few', 'rs/few', 'rc/few', '--replicas=3');
    expect(await kubectl.run('get', 'sts,rs,rc', '-o', 'jsonpath={.items[*].spec.replicas}')).toBe('3 3 3');
    expect(await kubectl.fails('scale', 'cm', 'kept', '--replicas=3')).toContain(
      'could not find the requested resource',
    );
  });

  describe('delete', () => {
    const marks = '{.metadata.finalizers} {.metadata.deletionTimestamp}';
    beforeAll(() =>
      kubectl.run(
        'create',
        '-f',
        kubectl.file('ends.yaml', ['o', 'f', 'b'].map((name) => configMap(name, '{}')).join('---\n')),
      ),
    );

    // Nobody here looks after what depends on an object: its finalizer stands until someone takes it away.
    it.each([
      ['orphan', 'o', 'orphan'],
      ['foreground', 'f', 'foregroundDeletion'],
    ])('--cascade=%s marks the object, which goes with its finalizer', async (cascade, name, finalizer) => {
      const out = await kubectl.run('delete', 'cm', name, `--cascade=${cascade}`, '--wait=false');
      expect(out).toMatch(new RegExp(`^configmap "${name}" deleted`));
      expect(await kubectl.read(`cm/${name}`, marks)).toMatch(new RegExp(`^\\["${finalizer}"\\] \\d{4}-`));
      const more = '{"metadata":{"finalizers":["example.com/more"]}}';
      expect(await kubectl.fails('patch', 'cm', name, '--type=merge', '-p', more)).toContain(
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted',
      );
      const waits = kubectl.start('delete', 'cm', name, `--cascade=${cascade}`, '--timeout=60s', '-v=6');
      await waits.until(/watch=true/);
      await kubectl.run('patch', 'cm', name, '--type=json', '-p', '[{"op":"remove","path":"/metadata/finalizers"}]');
      expect(await waits.ended).toBe(0);
      expect(await kubectl.fails('get', 'cm', name)).toContain(`configmaps "${name}" not found`);
    });

    it('--cascade=background is through when the object is gone', async () => {
      await kubectl.run('delete', 'cm', 'b', '--cascade=background', '--wait');
      expect(await kubectl.fails('get', 'cm', 'b')).toContain('configmaps "b" not found');
    });

    it('--grace-period shortens the time of a pod on its node, and ends it at once with 0', async () => {
      await kubectl.run('run', 'held', '--image=example.com/i:1', '--overrides={"spec":{"nodeName":"east"}}');
      // Seconds asked for, and those that the pod has then.
      for (const [asked, has] of [
        ['--grace-period=9', '9'],
        ['--grace-period=20', '9'],
        ['--now', '1'],
      ] as const) {
        await kubectl.run('delete', 'pod', 'held', asked, '--wait=false');
        expect(await kubectl.read('pod/held', '{.metadata.deletionGracePeriodSeconds}'), asked).toBe(has);
      }
      expect(await kubectl.run('delete', 'pod', 'held', '--grace-period=0', '--force')).toContain(
        '"held" force deleted',
      );
      expect(await kubectl.run('get', 'pod', 'held', '--ignore-not-found')).toBe('');
    });

    it('a finalizer of its own holds an object', async () => {
      const held = configMap('held', '{}').replace('name: held', 'name: held, finalizers: [example.com/mine]');
      await kubectl.run('create', '-f', kubectl.file('held.yaml', held));
      // kubectl may log that its watch has ended, too.
      expect(await kubectl.fails('delete', '-f', 'held.yaml', '--timeout=1s')).toContain(
        'error: timed out waiting for the condition on configmaps/held\n',
      );
      await kubectl.run('patch', 'cm', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
      expect(await kubectl.run('get', 'cm', 'held', '--ignore-not-found')).toBe('');
    });
  });
});
