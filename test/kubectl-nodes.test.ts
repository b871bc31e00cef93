import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Kubectl, startKubectl } from './support/kubectl.ts';
import { hasKubectl } from './support/requirements.ts';

const node = (name: string) => `apiVersion: v1\nkind: Node\nmetadata: { name: ${name} }\n`;

const pod = (name: string, { node = '', labels = '{}', owners = '[]' } = {}) => `apiVersion: v1
kind: Pod
metadata: { name: ${name}, labels: ${labels}, ownerReferences: ${owners} }
spec:
  nodeName: ${JSON.stringify(node)}
  containers: [{ name: main, image: "example.com/main:1", resources: { requests: { cpu: 250m } } }]
`;

// Nodes and the pods on them, as one who keeps a cluster running: cordon, taint, drain, wait, look inside.
describe.skipIf(!hasKubectl())('kubectl keeps nodes and pods', () => {
  let kubectl: Kubectl;
  beforeAll(async () => {
    kubectl = await startKubectl();
    const documents = [
      `apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: default }\n`,
      node('east'),
      node('west'),
      pod('plain', { node: 'west' }),
      pod('patient', { node: 'west' }),
    ];
    await kubectl.run('create', '-f', kubectl.file('all.yaml', documents.join('---\n')));
  });
  afterAll(() => kubectl.server.stop());

  const setStatus = (object: string, status: object) =>
    kubectl.run('patch', object, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }));
  const running = (name: string) =>
    setStatus(`pod/${name}`, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });

  it('cordon and uncordon', async () => {
    expect(await kubectl.run('cordon', 'east')).toBe('node/east cordoned\n');
    expect(await kubectl.run('cordon', 'east')).toBe('node/east already cordoned\n');
    expect(await kubectl.run('get', 'node', 'east')).toMatch(/^east +\w+,SchedulingDisabled +<none> /m);
    expect(await kubectl.run('uncordon', 'east')).toBe('node/east uncordoned\n');
    expect(await kubectl.read('node/east', '{.spec.unschedulable}')).toBe('');
  });

  it('taint, and replace a taint only with --overwrite', async () => {
    const taint = (...args: string[]) => kubectl.run('taint', 'node', 'east', ...args);
    const found = () => kubectl.read('node/east', '{.spec.taints[?(@.key=="use")]}');
    expect(await taint('use=gpu:NoSchedule')).toBe('node/east tainted\n');
    expect(JSON.parse(await found())).toEqual({ key: 'use', value: 'gpu', effect: 'NoSchedule' });
    expect(await kubectl.fails('taint', 'node', 'east', 'use=cpu:NoSchedule')).toContain('--overwrite is false');
    expect(await taint('use=cpu:NoSchedule', '--overwrite')).toBe('node/east modified\n');
    expect(JSON.parse(await found())).toMatchObject({ value: 'cpu' });
    expect(await taint('use-')).toBe('node/east untainted\n');
    expect(await found()).toBe('');
  });

  describe('drain', () => {
    const budget = (disruptionsAllowed: number) =>
      setStatus('pdb/kept', {
        observedGeneration: 1,
        disruptionsAllowed,
        currentHealthy: 2,
        desiredHealthy: 1,
        expectedPods: 2,
      });

    it('asks before it deletes what nobody makes again', async () => {
      const { metadata } = JSON.parse(
        await kubectl.run('create', 'deployment', 'owner', '--image=example.com/o:1', '-o', 'json'),
      ) as { metadata: { uid: string } };
      const daemons = `apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent }
spec:
  selector: { matchLabels: { app: agent } }
  template: { metadata: { labels: { app: agent } }, spec: { containers: [{ name: a, image: "example.com/a:1" }] } }
`;
      await kubectl.run('create', '-f', kubectl.file('agent.yaml', daemons));
      const uid = await kubectl.read('ds/agent', '{.metadata.uid}');
      const owned = (kind: string, name: string, of: string) =>
        `[{ apiVersion: apps/v1, kind: ${kind}, name: ${name}, uid: ${of}, controller: true }]`;
      const pods = [
        pod('one', { node: 'east', labels: '{ app: web }', owners: owned('Deployment', 'owner', metadata.uid) }),
        pod('two', { node: 'east', labels: '{ app: web }', owners: owned('Deployment', 'owner', metadata.uid) }),
        pod('agent', { node: 'east', owners: owned('DaemonSet', 'agent', uid) }),
        pod('alone', { node: 'east' }),
      ];
      await kubectl.run('create', '-f', kubectl.file('pods.yaml', pods.join('---\n')));
      for (const name of ['one', 'two', 'agent', 'alone']) await running(name);
      const refusal = await kubectl.fails('drain', 'east');
      expect(refusal).toMatch(/cannot delete Pods.* declare no controller \(use --force to override\): default\/alone/);
      expect(refusal).toMatch(/cannot delete DaemonSet-managed Pods.*: default\/agent/);
      expect(await kubectl.run('get', 'pods', '--field-selector=spec.nodeName=east', '-o', 'name')).toBe(
        'pod/agent\npod/alone\npod/one\npod/two\n',
      );
    });

    it('evicts as many as the budget allows, and the rest when it does', async () => {
      await kubectl.run('create', 'pdb', 'kept', '--selector=app=web', '--min-available=1');
      await budget(1);
      const flags = ['--force', '--ignore-daemonsets', '--grace-period=0', '--timeout=60s'];
      const drain = kubectl.start('drain', 'east', ...flags);
      await drain.until(/Cannot evict pod as it would violate the pod's disruption budget\./);
      const left = await kubectl.run('get', 'pods', '--field-selector=spec.nodeName=east', '-o', 'name');
      expect(left).toMatch(/^pod\/agent\n(?:pod\/alone\n)?pod\/(?:one|two)\n$/);
      const gone = left.includes('pod/one') ? 'two' : 'one';
      const status = JSON.parse(await kubectl.read('pdb/kept', '{.status}')) as object;
      expect(status).toMatchObject({ disruptionsAllowed: 0, disruptedPods: { [gone]: expect.anything() as string } });
      await budget(1);
      expect(await drain.ended, drain.printed()).toBe(0);
      expect(drain.printed()).toContain('node/east drained\n');
      expect(await kubectl.run('get', 'pods', '--field-selector=spec.nodeName=east', '-o', 'name')).toBe('pod/agent\n');
    });

    it('rehearses', async () => {
      const out = await kubectl.run('drain', 'west', '--force', '--dry-run=server');
      expect(out).toContain('node/west drained (server dry run)\n');
      expect(await kubectl.read('node/west', '{.spec.unschedulable}')).toBe('');
      expect(await kubectl.run('get', 'pod', 'plain', '-o', 'name')).toBe('pod/plain\n');
    });
  });

  describe('wait', () => {
    it('for a condition, and for a value', async () => {
      const ready = kubectl.start('wait', 'pod/plain', '--for=condition=Ready', '--timeout=60s', '-v=6');
      const address = kubectl.start(
        'wait',
        'pod/plain',
        '--for=jsonpath={.status.podIP}=10.1.2.3',
        '--timeout=60s',
        '-v=6',
      );
      await ready.until(/watch=true/);
      await address.until(/watch=true/);
      await setStatus('pod/plain', { podIP: '10.1.2.3', podIPs: [{ ip: '10.1.2.3' }] });
      await running('plain');
      expect([await ready.ended, await address.ended]).toEqual([0, 0]);
      expect(ready.printed()).toContain('pod/plain condition met\n');
      expect(await kubectl.fails('wait', 'pod/plain', '--for=condition=Ready=False', '--timeout=1s')).toBe(
        'error: timed out waiting for the condition on pods/plain\n',
      );
    });

    it('for the end of an object', async () => {
      await kubectl.run('delete', 'pod', 'patient', '--wait=false');
      const marked = '{.metadata.deletionGracePeriodSeconds} {.metadata.deletionTimestamp}';
      expect(await kubectl.read('pod/patient', marked)).toMatch(/^30 \d{4}-/);
      const gone = kubectl.start('wait', 'pod/patient', '--for=delete', '--timeout=60s', '-v=6');
      await gone.until(/watch=true/);
      await kubectl.run('delete', 'pod', 'patient', '--grace-period=0', '--force');
      expect(await gone.ended).toBe(0);
      expect(await kubectl.run('wait', 'pod/patient', '--for=delete', '--timeout=1s')).toBe('');
      expect(await kubectl.fails('wait', 'pod/patient', '--for=condition=Ready', '--timeout=1s')).toContain(
        'pods "patient" not found',
      );
    });
  });

  it('select pods by their fields', async () => {
    const select = (fields: string) => kubectl.run('get', 'pods', '--field-selector', fields, '-o', 'name');
    expect(await select('spec.nodeName=west')).toBe('pod/plain\n');
    expect(await select('status.phase=Running,spec.nodeName!=west')).toBe('pod/agent\n');
    expect(await select('status.podIP=10.1.2.3')).toBe('pod/plain\n');
    expect(await kubectl.run('get', 'pods', '-o', 'wide', '--field-selector=metadata.name=plain')).toMatch(
      /^plain +0\/1 +Running +0 +\w+ +10\.1\.2\.3 +west +<none> +<none>$/m,
    );
  });

  it('describe pods and nodes', async () => {
    const plain = await kubectl.run('describe', 'pod', 'plain');
    expect(plain).toMatch(/^Node: +west\//m);
    expect(plain).toMatch(/^Status: +Running$/m);
    expect(plain).toMatch(/^Conditions:\n +Type +Status *\n +Ready +True *$/m);
    expect(plain).toMatch(/^QoS Class: +Burstable$/m);
    expect(plain).toMatch(/^Tolerations: +node\.kubernetes\.io\/not-ready:NoExecute op=Exists for 300s$/m);
    const west = await kubectl.run('describe', 'node', 'west');
    expect(west).toMatch(/^Non-terminated Pods: +\(1 in total\)$/m);
    expect(west).toMatch(/^ +default +plain +250m /m);
  });

  it('look into a running pod with another container', async () => {
    await kubectl.run('debug', 'plain', '--image=example.com/tools:1', '-c=tools', '--target=main');
    const added = JSON.parse(await kubectl.read('pod/plain', '{.spec.ephemeralContainers[0]}')) as object;
    expect(added).toMatchObject({ name: 'tools', image: 'example.com/tools:1', targetContainerName: 'main' });
    expect(await kubectl.fails('exec', 'pod/one', '--', 'date')).toContain('pods "one" not found');
  });

  it('tell events in both of their forms', async () => {
    const uid = await kubectl.read('pod/plain', '{.metadata.uid}');
    const about = `{ apiVersion: v1, kind: Pod, namespace: default, name: plain, uid: ${uid} }`;
    const times = ['"2024-01-01T00:00:00Z"', '"2024-01-01T00:10:00Z"'];
    const manifest = `apiVersion: v1
kind: Event
metadata: { name: started }
involvedObject: ${about}
reason: Started
message: it runs
type: Normal
count: 2
firstTimestamp: ${times[0]}
lastTimestamp: ${times[1]}
source: { component: agent }
---
apiVersion: events.k8s.io/v1
kind: Event
metadata: { name: failed, namespace: default }
regarding: ${about}
reason: Failed
action: Probing
note: it stopped
type: Warning
eventTime: "2024-01-01T00:10:00.000000Z"
reportingController: example.com/agent
reportingInstance: a
`;
    await kubectl.run('create', '-f', kubectl.file('events.yaml', manifest));
    const rows = await kubectl.run('get', 'events');
    expect(rows).toMatch(/^\w+ +Normal +Started +pod\/plain +it runs$/m);
    expect(rows).toMatch(/^\w+ +Warning +Failed +pod\/plain +it stopped$/m);
    expect(await kubectl.run('events', '--for=pod/plain', '--types=Warning')).toMatch(
      /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n\w+ +Warning +Failed +Pod\/plain +it stopped\n$/,
    );
    expect(await kubectl.run('get', 'events', '--field-selector=reason=Started', '-o', 'name')).toBe('event/started\n');
    expect(await kubectl.run('describe', 'pod', 'plain')).toMatch(
      /^ +Warning +Failed +\w+ +example\.com\/agent +it stopped$/m,
    );
  });
});
