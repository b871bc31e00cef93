import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubeconfigTransport } from '../src/client/testing/kubeconfig-transport.ts';
import { makeCertificates } from '../src/http/testing/fixture.ts';
import { type Client, createClient, createServer, type OrchServer } from '../src/server/index.ts';
import { type NodeAgent, startNodeAgent } from './support/node-agent.ts';

let server: OrchServer;
let agent: NodeAgent;
let client: Client;
let close = () => {};
const pod = { namespace: 'default', name: 'web' };

beforeAll(async () => {
  const { ca, cert, key, clientCert, clientKey } = makeCertificates();
  agent = await startNodeAgent({ cert, key, ca }, (request, response) => {
    response.write('one\ntwo\nthr');
    if (request.url?.includes('follow=true') === true) setImmediate(() => response.end('ee\nfour'));
    else response.end('ee\n');
  });
  const dataDir = mkdtempSync(join(tmpdir(), 'orch-streams-'));
  const file = (name: string, text: string) => {
    writeFileSync(join(dataDir, name), text, { mode: 0o600 });
    return join(dataDir, name);
  };
  server = await createServer({
    apiDomain: 'k8s.io',
    controllers: '-*',
    securePort: 0,
    dataDir,
    disableAdmissionPlugins: ['ServiceAccount'],
    kubeletCertificateAuthority: file('agents.crt', ca),
    kubeletClientCertificate: file('shown.crt', clientCert),
    kubeletClientKey: file('shown.key', clientKey),
  });
  const { kubeconfig } = await server.listen();
  const transport = kubeconfigTransport(kubeconfig);
  close = () => transport.close();
  client = createClient({ transport });
  await client.create(
    { apiVersion: 'v1', resource: 'nodes' },
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'here' },
      status: {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: agent.port } },
      },
    },
  );
  await client.kind('v1', 'Pod').create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: pod,
    spec: { nodeName: 'here', containers: [{ name: 'main', image: 'i' }] },
  });
});
afterAll(async () => {
  close();
  await server.close();
  await agent.close();
});

describe('a log', () => {
  it('is read line by line, or as a text', async () => {
    const lines: string[] = [];
    for await (const line of await client.log(pod, { follow: true })) lines.push(line);
    expect(lines).toEqual(['one', 'two', 'three', 'four']);
    expect(await (await client.log(pod, { tailLines: 3 })).text()).toBe('one\ntwo\nthree\n');
    expect(agent.seen.at(-1)).toContain('tailLines=3');
    await expect(client.log({ ...pod, name: 'none' })).rejects.toMatchObject({ code: 404 });
  });
});

describe('a command', () => {
  it('has an output and an exit code', async () => {
    const said = await client.exec(pod, { command: ['say', 'hällo'] });
    expect(await said.output()).toEqual({ stdout: 'hällo\n', stderr: '', exitCode: 0 });
    const failed = await client.exec(pod, { command: ['fail'] });
    expect(await failed.output()).toEqual({ stdout: '', stderr: 'no luck\n', exitCode: 3 });
    expect(agent.seen.at(-1)).toMatch(/^\w+ \/exec\/default\/web\/main\?.*command=fail/);
  });

  it('reads its standard input, and ends when that does', async () => {
    const cat = await client.exec(pod, { command: ['cat'], stdin: true });
    const long = 'x'.repeat(200_000);
    await cat.write('short ');
    await cat.write(long);
    await cat.resize(80, 24);
    await cat.endInput();
    expect(await cat.output()).toEqual({ stdout: `short ${long}`, stderr: '', exitCode: 0 });
  });

  it('that is left ends its connection, and has no exit code', async () => {
    const cat = await client.attach(pod, { stdin: true });
    await cat.write('first');
    for await (const { stream, data } of cat) {
      expect([stream, Buffer.from(data).toString()]).toEqual(['stdout', 'first']);
      break;
    }
    await expect(cat.exitCode).rejects.toMatchObject({ code: 499 });
    await expect.poll(() => agent.streams.size).toBe(0);
  });

  it('is refused with the reason of the server, and in process for want of connections', async () => {
    await expect(client.exec({ ...pod, name: 'none' }, { command: ['say'] })).rejects.toMatchObject({ code: 404 });
    await expect(client.exec(pod, { command: ['say'], container: 'other' })).rejects.toMatchObject({ code: 400 });
    await expect(server.client.exec(pod, { command: ['say'] })).rejects.toMatchObject({
      code: 501,
      message: expect.stringContaining('require httpsTransport'),
    });
  });
});

describe('a forwarded port', () => {
  it('carries bytes in both directions', async () => {
    const port = await client.portForward(pod, 7);
    await port.send('ping');
    const received: string[] = [];
    for await (const bytes of port.received) {
      received.push(Buffer.from(bytes).toString());
      if (received.length === 1) await port.send(new Uint8Array([0x70, 0x6f]));
      else break;
    }
    expect(received).toEqual(['ping', 'po']);
    await expect.poll(() => agent.streams.size).toBe(0);
  });

  it('on which nobody listens fails with the reason', async () => {
    const port = await client.portForward(pod, 9);
    const reading = port.received[Symbol.asyncIterator]().next();
    await expect(reading).rejects.toMatchObject({ code: 502, message: 'port 9: connection refused' });
  });
});
