import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasProgram } from '../../../test/support/requirements.ts';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import { certificateRequest, commonName } from '../../pki/testing/certificate-request.ts';
import { type CtlBench, ctlBench, type Transcript } from '../testing/run-ctl.ts';
import { endOfArchive, writeEntry } from './pods/tar.ts';

let bench: CtlBench;
const apps = { apiVersion: 'apps/v1', resource: 'deployments', namespace: 'default' };
const pods = { apiVersion: 'v1', resource: 'pods', namespace: 'default' };
const nodes = { apiVersion: 'v1', resource: 'nodes' };

const deployment = (name: string, annotations: JsonObject = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'default' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name }, annotations },
      spec: {
        containers: [
          { name: 'main', image: 'main:1' },
          { name: 'side', image: 'side:1' },
        ],
      },
    },
  },
});

const prefix = 'fake-nodes.kubernetes.io';
const pod = (name: string, annotations: JsonObject = {}, more: JsonObject = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', annotations },
  spec: { containers: [{ name: 'main', image: 'main:1' }], ...more },
});

const created = (body: object) =>
  bench.server.client.create({ ...((body as ApiObject).kind === 'Pod' ? pods : apps) }, body as never);

/** Waits until an object is as expected, by a watch of it. */
async function until(
  place: { apiVersion: string; resource: string; namespace?: string },
  name: string,
  holds: (object: JsonObject) => boolean,
) {
  const watch = await bench.server.client.watch(place, { fieldSelector: `metadata.name=${name}` });
  for await (const { object } of watch) if (holds(object as unknown as JsonObject)) break;
  watch.close();
}
const isObserved = ({ metadata, status }: JsonObject) =>
  (status as JsonObject)?.['observedGeneration'] === (metadata as JsonObject)['generation'];
const isRunning = (object: JsonObject) => (object['status'] as JsonObject)?.['phase'] === 'Running';

beforeAll(async () => {
  bench = await ctlBench({ fakeNodes: 2, controllersThread: false });
  await until({ ...pods, resource: 'serviceaccounts' }, 'default', () => true);
  await created(
    pod('talker', {
      [`${prefix}/logs`]: 'one\ntwo\n',
      [`${prefix}/exec`]: 'done\n',
      [`${prefix}/exec-exit-code`]: '3',
    }),
  );
  await created(pod('server', { [`${prefix}/http`]: 'hello' }));
  await created(
    pod(
      'pair',
      {},
      {
        containers: [
          { name: 'main', image: 'a' },
          { name: 'side', image: 'b' },
        ],
      },
    ),
  );
  for (const name of ['talker', 'server', 'pair']) await until(pods, name, isRunning);
});
afterAll(() => bench.close());

describe.skipIf(!hasProgram('kubectl', 'version', '--client'))(
  'the same command line prints what kubectl prints',
  () => {
    /** Runs a command line by kubectl with one object and by this program with another one, whose names are replaced. */
    async function both(line: string): Promise<void> {
      const words = (name: string) =>
        line
          .replaceAll('NAME', name)
          .split(' ')
          .filter((word) => word !== '');
      const plain = ({ status, stdout, stderr }: Transcript, name: string) => ({
        status,
        stdout: stdout.replaceAll(name, 'NAME').replaceAll('orch ctl', 'kubectl'),
        stderr: stderr.replaceAll(name, 'NAME').replaceAll('orch ctl', 'kubectl'),
      });
      const theirs = plain(await bench.kubectl(...words('theirs')), 'theirs');
      expect({ line, ...plain(await bench.run(...words('owns')), 'owns') }).toEqual({ line, ...theirs });
    }

    it('for workloads', async () => {
      for (const name of ['theirs', 'owns']) await created(deployment(name));
      for (const name of ['theirs', 'owns'])
        await until(apps, name, ({ status }) => (status as JsonObject)?.['availableReplicas'] === 1);
      for (const line of [
        'rollout status deployment/NAME',
        'scale deployment NAME --replicas=2',
        'scale deployment/NAME --replicas=3 --current-replicas=7',
        'scale deployment/NAME',
        'scale deployment/NAME --replicas=1 --dry-run=client',
        'scale deployment/NAME --replicas=1 --dry-run=server',
        'set image deployment/NAME main=main:2',
        'set image deployment/NAME main=main:2',
        'set image deployment/NAME other=x',
        'set image deployment/NAME *=all:3 --dry-run=server',
        'set env deployment/NAME A=1 B=2',
        'set env deployment/NAME B-',
        'set env deployment/NAME --list',
        'rollout history deployment/NAME',
        'rollout undo deployment/NAME --to-revision=-1',
        'rollout pause deployment/NAME',
        'rollout pause deployment/NAME',
        'rollout resume deployment/NAME',
        'rollout resume deployment/NAME',
        'rollout undo deployment/NAME --to-revision=1',
        'rollout undo deployment/NAME --to-revision=99',
        'rollout restart deployment/NAME',
        'rollout restart configmap/NAME',
      ]) {
        await both(line);
        // A controller that is behind would make one revision of two changes.
        for (const name of ['theirs', 'owns']) await until(apps, name, isObserved);
        await bench.server.settled();
      }
    });

    it('for nodes', async () => {
      const names = ((await bench.server.client.list(nodes)).items as ApiObject[]).map(
        ({ metadata }) => metadata.name ?? '',
      );
      const [theirs = '', owns = ''] = names;
      for (const line of [
        'cordon NODE',
        'cordon NODE',
        'uncordon NODE',
        'uncordon NODE --dry-run=client',
        'cordon',
        'cordon absent',
        'taint nodes NODE a=b:NoSchedule',
        'taint nodes NODE a=b:NoSchedule',
        'taint nodes NODE a=c:NoSchedule --overwrite',
        'taint nodes NODE a:NoSchedule- d=:PreferNoSchedule',
        'taint nodes NODE d-',
        'taint nodes NODE d-',
        'taint nodes NODE a=b:Never',
      ]) {
        const run = async (program: CtlBench['run'], node: string) => {
          const { status, stdout, stderr } = await program(...line.replaceAll('NODE', node).split(' '));
          return {
            line,
            status,
            stdout: stdout.replaceAll(node, 'NODE'),
            stderr: stderr.replaceAll(node, 'NODE').replaceAll('orch ctl', 'kubectl'),
          };
        };
        expect(await run(bench.run, owns)).toEqual(await run(bench.kubectl, theirs));
      }
    });

    it('for pods', async () => {
      for (const line of [
        'logs talker',
        'logs talker --tail=1',
        'logs talker -c none',
        'logs talker --prefix',
        'logs pair',
        'logs absent',
        'logs pair -c side --prefix',
        'exec talker -- true',
        'exec talker',
        'exec absent -- true',
      ]) {
        const [ours, theirs] = [await bench.run(...line.split(' ')), await bench.kubectl(...line.split(' '))];
        const named = ({ stderr, ...rest }: Transcript) => ({
          line,
          ...rest,
          stderr: stderr.replaceAll('orch ctl', 'kubectl'),
        });
        expect(named(ours)).toEqual(named(theirs));
      }
    });
  },
);

describe('rollout', () => {
  // A controller revision is a patch, whose directive is not part of the template.
  it('describes and restores the revisions of a stateful set without warnings', async () => {
    const { spec, ...rest } = deployment('numbered');
    const sets = { ...apps, resource: 'statefulsets' };
    await bench.server.client.create(sets, { ...rest, kind: 'StatefulSet', spec } as never);
    await until(sets, 'numbered', isObserved);
    await bench.run('set', 'image', 'statefulset/numbered', 'main=main:2');
    await until(sets, 'numbered', isObserved);
    await bench.server.settled();
    const history = await bench.run('rollout', 'history', 'statefulset/numbered', '--revision=1');
    expect(history).toMatchObject({ status: 0, stderr: '' });
    expect(history.stdout).toMatch(
      /^statefulset\.apps\/numbered with revision #1\nPod Template:\n {2}Labels:\tapp=numbered\n {2}Containers:\n {3}main:\n {4}Image:\tmain:1\n/,
    );
    const undo = (revision: number) =>
      bench.run('rollout', 'undo', 'statefulset/numbered', `--to-revision=${revision}`);
    expect(await undo(2)).toEqual({
      status: 0,
      stdout: 'statefulset.apps/numbered skipped rollback (current template already matches revision 2)\n',
      stderr: '',
    });
    expect(await undo(1)).toEqual({ status: 0, stdout: 'statefulset.apps/numbered rolled back\n', stderr: '' });
    await bench.run('delete', 'statefulset', 'numbered');
  });
});

describe('certificate', () => {
  it('approves and denies requests', async () => {
    const request = certificateRequest({ subject: [commonName('someone')] });
    const requests = { apiVersion: 'certificates.k8s.io/v1', resource: 'certificatesigningrequests' };
    for (const name of ['good', 'bad']) {
      const spec = {
        request: Buffer.from(request).toString('base64'),
        signerName: 'example.com/signer',
        usages: ['client auth'],
      };
      await bench.server.client.create(requests, {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name },
        spec,
      } as never);
    }
    expect((await bench.run('certificate', 'approve', 'good')).stdout).toBe(
      'certificatesigningrequest.certificates.k8s.io/good approved\n',
    );
    expect((await bench.run('certificate', 'deny', 'bad')).stdout).toBe(
      'certificatesigningrequest.certificates.k8s.io/bad denied\n',
    );
    const { status } = (await bench.server.client.get({ ...requests, name: 'good' })) as unknown as {
      status: JsonObject;
    };
    expect(status['conditions']).toMatchObject([{ type: 'Approved', status: 'True' }]);
  });
});

describe('exec with -i and -t', () => {
  it('passes on keys as they are while the command runs, and restores the terminal', async () => {
    const raw: boolean[] = [];
    const { ended } = bench.start(['exec', 'talker', '-it', '--', 'true'], '', { setRawMode: (on) => raw.push(on) });
    expect(await ended).toMatchObject({ status: 3 });
    expect(raw).toEqual([true, false]);
  });

  it('goes on without a terminal where there is none', async () => {
    expect((await bench.run('exec', 'talker', '-it', '--', 'true')).stderr).toMatch(/^Unable to use a TTY/);
  });
});

// The texts and statuses are those of kubectl.
describe('attach', () => {
  const prompt = "If you don't see a command prompt, try pressing enter.\n";
  const noTerminal = 'Unable to use a TTY - input is not a terminal or the right kind of file\n';
  const twoContainers = {
    containers: [
      { name: 'main', image: 'a', stdin: true, tty: true },
      { name: 'side', image: 'b' },
    ],
  };

  it.each([
    ['NAME', `Defaulted container "main" out of: main, side\n${prompt}`],
    ['pod NAME -c side -t', `error: Unable to use a TTY - container side did not allocate one\n${prompt}`],
    ['pod/NAME -it', `Defaulted container "main" out of: main, side\n${noTerminal}${prompt}`],
    ['NAME -q -it', ''],
  ])('prints the output of a container until it ends: attach %s', async (line, stderr) => {
    await created(pod('attached', { [`${prefix}/logs`]: 'one\n' }, twoContainers));
    await until(pods, 'attached', isRunning);
    const running = bench.start(['attach', ...line.replace('NAME', 'attached').split(' ')]);
    await expect.poll(running.stdout).toBe('one\n');
    await bench.run('delete', 'pod', 'attached');
    expect(await running.ended).toEqual({ status: 0, stdout: 'one\n', stderr });
  });

  it('names what cannot be attached to', async () => {
    await created(pod('done', { [`${prefix}/run-time`]: '0s' }, { ...twoContainers, restartPolicy: 'Never' }));
    await until(pods, 'done', ({ status }) => (status as JsonObject)?.['phase'] === 'Succeeded');
    for (const [line, stderr] of [
      ['', 'error: at least 1 argument is required for attach\n'],
      [
        'a b c',
        "error: expected POD, TYPE/NAME, or TYPE NAME, (at most 2 arguments) saw 3: [a b c]\nSee 'orch ctl attach -h' for help and examples\n",
      ],
      ['done', 'error: cannot attach a container in a completed pod; current phase is Succeeded\n'],
      ['server -c none', 'error: cannot attach to the container: container none not found in pod server\n'],
      ['absent', 'Error from server (NotFound): pods "absent" not found\n'],
    ] as const) {
      const { status, stderr: printed } = await bench.run('attach', ...line.split(' ').filter((word) => word !== ''));
      expect({ line, status, printed }).toEqual({ line, status: 1, printed: stderr });
    }
    expect((await bench.run('exec', 'server', '-c', 'none', '--', 'true')).stderr).toBe(
      'Error from server (BadRequest): container none is not valid for pod server\n',
    );
  });
});

describe('port-forward', () => {
  it('carries connections to the pod until Ctrl-C', async () => {
    const running = bench.start(['port-forward', 'pod/server', ':80', '--address=127.0.0.1']);
    await expect.poll(running.stdout).toMatch(/^Forwarding from 127\.0\.0\.1:\d+ -> 80\n$/);
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(running.stdout())?.[1]);
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nhost: server\r\nconnection: close\r\n\r\n');
    expect(await text(socket)).toContain('hello');
    expect(running.stdout()).toContain(`Handling connection for ${port}\n`);
    running.interrupt();
    expect((await running.ended).status).toBe(0);
  });

  it('fails for a port that is none and a pod that is absent', async () => {
    expect((await bench.run('port-forward', 'pod/server', 'web')).stderr).toMatch(
      /^error: error parsing remote port web/,
    );
    expect((await bench.run('port-forward', 'pod/absent', '80')).stderr).toBe(
      'Error from server (NotFound): pods "absent" not found\n',
    );
  });
});

describe('cp', () => {
  /** A pod whose commands print an archive of these files. */
  async function sender(name: string, files: { readonly [file: string]: string }) {
    const entries = Object.entries(files).map(([file, content]) =>
      writeEntry({ name: file, mode: 0o644, content: Buffer.from(content) }),
    );
    const archive = Buffer.concat([...entries, endOfArchive()]).toString();
    await created(pod(name, { [`${prefix}/exec`]: archive }));
    await until(pods, name, isRunning);
  }

  it('copies a folder from a container', async () => {
    await sender('archive', { 'tmp/data/a.txt': 'one\n', 'tmp/data/deep/b.txt': 'two\n' });
    expect(await bench.run('cp', 'archive:/tmp/data', 'copied')).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(readFileSync(join(bench.folder, 'copied/deep/b.txt'), 'utf8')).toBe('two\n');
  });

  it('stores nothing outside of the target, whatever a container sends', async () => {
    for (const [name, file] of [
      ['climber', 'tmp/data/../../evil'],
      ['other', 'etc/evil'],
    ] as const) {
      await sender(name, { [file]: 'evil' });
      const { status, stderr } = await bench.run('cp', `${name}:/tmp/data`, `target-${name}`);
      expect(status).toBe(1);
      expect(stderr).toContain('which is not below the copied path');
      expect(existsSync(join(bench.folder, 'evil'))).toBe(false);
    }
  });

  it('copies a file into a container, and names what is wrong', async () => {
    writeFileSync(join(bench.folder, 'local.txt'), 'text');
    expect((await bench.run('cp', 'local.txt', 'server:/tmp/remote.txt')).status).toBe(0);
    expect((await bench.run('cp', 'absent.txt', 'server:/tmp/x')).stderr).toContain(
      "absent.txt doesn't exist in local filesystem",
    );
    expect((await bench.run('cp', 'a', 'b')).stderr).toBe(
      'error: one of src or dest must be a remote file specification\n',
    );
    expect((await bench.run('cp', 'a:x', 'b:y')).stderr).toBe(
      'error: src and dest cannot both be remote file specifications\n',
    );
  });
});

// The texts and statuses are those of kubectl.
it.each([
  [
    'get pods --output-watch-events',
    'error: --output-watch-events option can only be used with --watch or --watch-only',
  ],
  ['get ns -o jsonpath-file=no', 'error: error reading --template no, open no: no such file or directory'],
  ['wait --for=create cm/no --timeout=1ms', 'error: timed out waiting for the condition'],
  ['wait cm -l no=where --for=delete', ''],
  ['label', 'error: one or more resources must be specified as <resource> <name> or <resource>/<name>'],
  [
    'create token default --bound-object-kind=Foo --bound-object-name=x',
    'error: supported --bound-object-kind values are Node, Pod, Secret',
  ],
])('%s prints what kubectl prints', async (line, stderr) => {
  expect(await bench.run(...line.split(' '))).toEqual({
    status: stderr === '' ? 0 : 1,
    stdout: '',
    stderr: stderr === '' ? '' : `${stderr}\n`,
  });
});

// Last: it takes the pods of other cases away.
describe('drain', () => {
  it('evicts pods of controllers, and refuses others without a flag', async () => {
    const name = 'drained';
    await created(deployment(name));
    await until(apps, name, ({ status }) => (status as JsonObject)?.['availableReplicas'] === 1);
    const items = (await bench.server.client.list(pods, { labelSelector: `app=${name}` })).items as ApiObject[];
    const node = (items[0] as unknown as { spec: { nodeName: string } }).spec.nodeName;
    const lone = pod('lone', {}, { nodeName: node });
    await created(lone);
    const refused = await bench.run('drain', node);
    expect(refused.status).toBe(1);
    expect(refused.stdout).toBe(`node/${node} cordoned\n`);
    expect(refused.stderr).toContain('cannot delete Pods that declare no controller (use --force to override): ');
    expect(refused.stderr).toContain(`There are pending nodes to be drained:\n ${node}\n`);
    const done = await bench.run('drain', node, '--force');
    expect([done.status, done.stdout.split('\n')[0], done.stdout.split('\n').at(-2)]).toEqual([
      0,
      `node/${node} already cordoned`,
      `node/${node} drained`,
    ]);
    expect(done.stdout).toContain('pod/lone evicted\n');
    const left = (await bench.server.client.list(pods, { fieldSelector: `spec.nodeName=${node}` })).items;
    expect(left).toEqual([]);
    await bench.run('uncordon', node);
  });
});

describe('delete --interactive', () => {
  const question = (name: string) =>
    `You are about to delete the following 1 resource(s):\nconfigmap/${name}\nDo you want to continue? (y/n): `;

  // As kubectl.
  it.each([
    ['n\n', 'deletion is cancelled\n'],
    ['', 'deletion is cancelled\n'],
    ['Y\n', 'configmap "asked" deleted\n'],
  ])('deletes after the answer y only: %j', async (answer, outcome) => {
    await bench.run('create', 'configmap', 'asked');
    const { status, stdout } = await bench.start(['delete', 'configmap', 'asked', '-i'], answer).ended;
    expect([status, stdout]).toEqual([0, `${question('asked')}${outcome}`]);
    const { stdout: left } = await bench.run('get', 'configmap', 'asked', '-o', 'name', '--ignore-not-found');
    expect(left).toBe(outcome.startsWith('deletion') ? 'configmap/asked\n' : '');
  });
});
