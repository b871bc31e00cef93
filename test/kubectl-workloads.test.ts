import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../src/meta/testing/until.ts';
import { type Kubectl, startKubectl } from './support/kubectl.ts';
import { hasKubectl, hasProgram } from './support/requirements.ts';

const patience = '--timeout=60s';

// Workloads from their creation to their end, with the controllers and on nodes that run nothing.
describe.skipIf(!hasKubectl())('kubectl runs workloads', () => {
  let kubectl: Kubectl;
  beforeAll(async () => {
    kubectl = await startKubectl(['--controllers=*', '--fake-nodes=3']);
    await until(async () => expect(await kubectl.run('get', 'nodes', '-o', 'name')).not.toBe(''));
    await kubectl.run('wait', 'nodes', '--all', '--for=condition=Ready', patience);
  });
  afterAll(() => kubectl.server.stop());

  /** kubectl in a namespace of its own. */
  const inNamespace = async (namespace: string) => {
    await kubectl.run('create', 'namespace', namespace);
    const run = (...args: string[]) => kubectl.run('-n', namespace, ...args);
    return {
      run,
      fails: (...args: string[]) => kubectl.fails('-n', namespace, ...args),
      names: (kinds: string, ...args: string[]) => run('get', kinds, '-o', 'name', ...args),
      read: (object: string, path: string) => run('get', object, '-o', `jsonpath=${path}`),
      deploy: async (name: string, replicas: number) => {
        await run('create', 'deployment', name, '--image=example.com/web:1', `--replicas=${replicas}`);
        expect(await run('rollout', 'status', `deployment/${name}`, patience)).toContain(
          `deployment "${name}" successfully rolled out\n`,
        );
      },
      apply: (name: string, manifest: string) => run('apply', '-f', kubectl.file(`${namespace}-${name}`, manifest)),
    };
  };

  it('nodes are ready', async () => {
    expect(await kubectl.run('get', 'nodes')).toMatch(/^(?:fake-node-\d +Ready +<none> +\w+ +v\S+ *\n){3}$/m);
    const described = await kubectl.run('describe', 'node', 'fake-node-1');
    expect(described).toMatch(/^ +Ready +True .* KubeletReady +kubelet is posting ready status$/m);
    expect(described).toMatch(/^Lease:\n +HolderIdentity: +fake-node-1$/m);
    expect(described).toMatch(/^Taints: +<none>$/m);
  });

  it('run a pod, look at it, delete it', async () => {
    const { run, names } = await inNamespace('single');
    await run('run', 'web', '--image=example.com/web:1');
    expect(await run('wait', 'pod/web', '--for=condition=Ready', patience)).toBe('pod/web condition met\n');
    expect(await run('get', 'pod', 'web', '-o', 'wide')).toMatch(
      /^web +1\/1 +Running +0 +\w+ +10\.244\.\d\.\d+ +fake-node-\d +<none> +<none>$/m,
    );
    const described = await run('describe', 'pod', 'web');
    expect(described).toMatch(
      /^ +Normal +Scheduled +\w+ +default-scheduler +Successfully assigned single\/web to fake-/m,
    );
    expect(described).toMatch(/^ +Normal +Started +\w+ +kubelet +Container started$/m);
    expect(await run('delete', 'pod', 'web', patience)).toContain('pod "web" deleted');
    expect(await names('pods')).toBe('');
  });

  it('create deployment, rollout status, rollout undo, rollout history', async () => {
    const { run, fails, read, names, deploy } = await inNamespace('rollouts');
    await deploy('web', 2);
    await run('set', 'image', 'deployment/web', 'web=example.com/web:2');
    await run('rollout', 'status', 'deployment/web', patience);
    expect(await run('rollout', 'undo', 'deployment/web')).toBe('deployment.apps/web rolled back\n');
    await run('rollout', 'status', 'deployment/web', patience);
    expect(await read('deployment/web', '{.spec.template.spec.containers[0].image}')).toBe('example.com/web:1');
    expect(await run('rollout', 'history', 'deployment/web')).toMatch(/^2 +<none>\n3 +<none>$/m);
    expect((await names('replicasets')).split('\n')).toHaveLength(3);
    const stuck = {
      spec: { template: { metadata: { annotations: { 'fake-nodes.kubernetes.io/ready-delay': 'never' } } } },
    };
    await run('patch', 'deployment', 'web', '-p', JSON.stringify(stuck));
    expect(await fails('rollout', 'status', 'deployment/web', '--timeout=1s')).toContain('timed out waiting');
  });

  it('stateful sets and daemon sets roll out', async () => {
    const { run, apply, names } = await inNamespace('sets');
    const spec = `  selector: { matchLabels: { app: a } }
  template:
    metadata: { labels: { app: a } }
    spec: { containers: [{ name: main, image: "example.com/a:1" }] }
`;
    const head = (kind: string) => `apiVersion: apps/v1\nkind: ${kind}\nmetadata: { name: a }\nspec:\n`;
    await apply('sts.yaml', `${head('StatefulSet')}  serviceName: a\n  replicas: 2\n${spec}`);
    await run('rollout', 'status', 'statefulset/a', patience);
    expect(await names('pods')).toBe('pod/a-0\npod/a-1\n');
    await apply('ds.yaml', `${head('DaemonSet')}${spec.replaceAll('app: a', 'app: d')}`);
    await run('rollout', 'status', 'daemonset/a', patience);
    expect((await names('pods', '-l', 'app=d')).trim().split('\n')).toHaveLength(3);
  });

  it('autoscale raises a deployment to its minimum', async () => {
    const { run, deploy } = await inNamespace('scaled');
    await deploy('web', 1);
    await run('autoscale', 'deployment', 'web', '--min=3', '--max=5', '--cpu-percent=80');
    await run('wait', 'deployment/web', '--for=jsonpath={.status.readyReplicas}=3', patience);
  });

  it('create job completes, and fails as its pods do', async () => {
    const { run, apply, read } = await inNamespace('jobs');
    await run('create', 'job', 'work', '--image=example.com/work:1');
    expect(await run('wait', 'job/work', '--for=condition=complete', patience)).toBe('job.batch/work condition met\n');
    expect(await read('job/work', '{.status.succeeded}')).toBe('1');
    await apply(
      'failing.yaml',
      `apiVersion: batch/v1
kind: Job
metadata: { name: failing }
spec:
  backoffLimit: 0
  template:
    metadata: { annotations: { fake-nodes.kubernetes.io/exit-code: "3" } }
    spec: { restartPolicy: Never, containers: [{ name: main, image: "example.com/work:1" }] }
`,
    );
    await run('wait', 'job/failing', '--for=condition=failed', patience);
    expect(await run('get', 'pods', '-l', 'job-name=failing')).toMatch(/^failing-\w+ +0\/1 +Error +0 /m);
  });

  it('create cronjob, and a job from it', async () => {
    const { run, read } = await inNamespace('cron');
    await run('create', 'cronjob', 'tick', '--image=example.com/tick:1', '--schedule=0 0 1 1 *');
    await run('create', 'job', 'once', '--from=cronjob/tick');
    await run('wait', 'job/once', '--for=condition=complete', patience);
    expect(await read('job/once', '{.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].name}')).toBe(
      'CronJob/tick',
    );
  });

  it('drain evicts within a budget, until the pods run elsewhere', async () => {
    const { run, deploy } = await inNamespace('drained');
    await deploy('kept', 3);
    await run('create', 'pdb', 'kept', '--selector=app=kept', '--min-available=2');
    await run('wait', 'pdb/kept', '--for=jsonpath={.status.disruptionsAllowed}=1', patience);
    const on = () => run('get', 'pods', '-o', 'name', '--field-selector=spec.nodeName=fake-node-0');
    try {
      const drained = await kubectl.run('drain', 'fake-node-0', '--pod-selector=app=kept', patience);
      expect(drained).toContain('node/fake-node-0 drained\n');
      expect(await on()).toBe('');
      await run('rollout', 'status', 'deployment/kept', patience);
      expect(await on()).toBe('');
    } finally {
      await kubectl.run('uncordon', 'fake-node-0');
    }
  });

  it('delete namespace with what is in it', async () => {
    const { run, deploy, names } = await inNamespace('doomed');
    await deploy('web', 2);
    await run('create', 'configmap', 'settings', '--from-literal=a=b');
    expect(await kubectl.run('delete', 'namespace', 'doomed', patience)).toContain('namespace "doomed" deleted');
    expect(await kubectl.fails('get', 'namespace', 'doomed')).toContain('"doomed" not found');
    expect(await names('deployments,replicasets,pods,configmaps')).toBe('');
  });

  it('delete with --cascade=foreground leaves nothing, with orphan the dependents', async () => {
    const { run, deploy, names, read } = await inNamespace('cascades');
    await deploy('first', 1);
    await run('delete', 'deployment', 'first', '--cascade=foreground', patience);
    expect(await names('deployments,replicasets,pods')).toBe('');
    await deploy('second', 1);
    await run('delete', 'deployment', 'second', '--cascade=orphan', patience);
    expect(await names('deployments')).toBe('');
    const [replicaSet = ''] = (await names('replicasets')).split('\n');
    expect(replicaSet).toMatch(/^replicaset\.apps\/second-/);
    expect(await read(replicaSet, '{.metadata.ownerReferences}')).toBe('');
    expect(await names('pods')).toMatch(/^pod\/second-\w+-\w+\n$/);
  });

  it('create token, with which a service account is known', async () => {
    const { run } = await inNamespace('tokens');
    await run('create', 'serviceaccount', 'robot');
    const token = (await run('create', 'token', 'robot')).trim();
    const { server } = kubectl;
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const place = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const { body } = await server.request('POST', place, review, { authorization: `Bearer ${token}` });
    expect(body.status.userInfo.username).toBe('system:serviceaccount:tokens:robot');
  });

  it.skipIf(!hasProgram('openssl', 'version'))('certificate approve, and the certificate that is issued', async () => {
    const { folder } = kubectl.server;
    const files = ['-keyout', join(folder, 'jane.key'), '-out', join(folder, 'jane.csr')];
    execFileSync(
      'openssl',
      [
        'req',
        '-new',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-subj',
        '/O=dev/CN=jane',
        ...files,
      ],
      { stdio: 'ignore' },
    );
    const request = readFileSync(join(folder, 'jane.csr')).toString('base64');
    const manifest = `apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: { name: jane }
spec: { signerName: kubernetes.io/kube-apiserver-client, usages: [client auth], request: ${request} }
`;
    await kubectl.run('create', '-f', kubectl.file('jane.yaml', manifest));
    expect(await kubectl.run('certificate', 'approve', 'jane')).toContain(
      'certificatesigningrequest.certificates.k8s.io/jane approved\n',
    );
    await kubectl.run('wait', 'csr/jane', '--for=jsonpath={.status.certificate}', patience);
    const certificate = Buffer.from(await kubectl.read('csr/jane', '{.status.certificate}'), 'base64').toString();
    expect(certificate).toMatch(/^-----BEGIN CERTIFICATE-----\n/);
    expect(await kubectl.run('get', 'csr', 'jane')).toMatch(/ Approved,Issued$/m);
  });
});
