import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../src/meta/testing/until.ts';
import { type Kubectl, startKubectl } from './support/kubectl.ts';
import { hasKubectl } from './support/requirements.ts';

const pod = `apiVersion: v1
kind: Pod
metadata:
  name: web
  annotations:
    fake-nodes.kubernetes.io/logs: "one\\ntwo\\nthree\\n"
    fake-nodes.kubernetes.io/exec: "done\\n"
    fake-nodes.kubernetes.io/exec-exit-code.failing: "3"
    fake-nodes.kubernetes.io/http: "a page"
spec:
  containers:
  - {name: main, image: example.com/web:1}
  - {name: failing, image: example.com/web:1}
`;

/** kubectl speaks WebSocket, or with this variable SPDY as its older releases do. */
const spdy = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' };

describe.skipIf(!hasKubectl())('pods on fake nodes answer', () => {
  let kubectl: Kubectl;
  beforeAll(async () => {
    kubectl = await startKubectl(['--controllers=serviceaccount-controller', '--fake-nodes=1']);
    const file = kubectl.file('pod.yaml', pod);
    await until(() => kubectl.run('apply', '-f', file));
    await kubectl.run('wait', '--for=condition=Ready', 'pod/web', '--timeout=60s');
  });
  afterAll(() => kubectl.server.stop());

  it('logs, in part, with times, and until the container ends', async () => {
    expect(await kubectl.run('logs', 'web', '-c', 'main')).toBe('one\ntwo\nthree\n');
    expect(await kubectl.run('logs', 'web', '-c', 'main', '--tail=1', '--timestamps')).toMatch(
      /^[\d-]+T[\d:]+Z three\n$/,
    );
    expect(await kubectl.fails('logs', 'web', '-c', 'main', '--previous')).toContain(
      'previous terminated container "main" in pod "web" not found',
    );
    await kubectl.run('run', 'short', '--image=i', '--restart=Never');
    await kubectl.run('wait', '--for=jsonpath={.status.containerStatuses[0].started}', 'pod/short', '--timeout=60s');
    expect(await kubectl.run('logs', '--follow', 'short')).toBe('short of the image i is not run\n');
  });

  it.each([
    ['WebSocket', {}],
    ['SPDY', spdy],
  ])('commands, over %s', async (_, environment) => {
    const run = (container: string, ...args: string[]) =>
      kubectl.ends(['exec', ...args, 'web', '-c', container, '--', 'true'], environment);
    expect(await run('main')).toEqual({ code: 0, out: 'done\n', err: '' });
    expect(await run('main', '-i')).toMatchObject({ code: 0, out: 'done\n' });
    expect(await run('failing')).toMatchObject({ code: 3, out: 'done\n' });
  });

  it('attached clients, with the log', async () => {
    const attached = kubectl.start('attach', 'web', '-c', 'main');
    await attached.until(/three/);
    attached.stop();
  });

  it('HTTP, through proxies and forwarded ports', async () => {
    expect(await kubectl.run('get', '--raw', '/api/v1/namespaces/default/pods/web:80/proxy/any')).toBe('a page');
    expect(await kubectl.fails('get', '--raw', '/api/v1/nodes/fake-node-0/proxy/metrics')).toContain(
      'nothing is served',
    );
    const port = await new Promise<number>((resolve) => {
      const server = createServer().listen(0, '127.0.0.1', () => {
        const address = server.address();
        server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
      });
    });
    const forwarding = kubectl.start('port-forward', 'pod/web', `${port}:80`, '--address=127.0.0.1');
    await forwarding.until(/Forwarding from/);
    for (let i = 0; i < 2; i++) expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('a page');
    forwarding.stop();
  });

  it('and their components are healthy', async () => {
    const columns = 'custom-columns=NAME:.metadata.name,HEALTHY:.conditions[0].status';
    expect(await kubectl.run('get', 'componentstatuses', '--no-headers', '-o', columns)).toBe(
      'controller-manager   True\netcd-0               True\nscheduler            True\n',
    );
  });
});
