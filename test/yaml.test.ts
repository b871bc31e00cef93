import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from './support/server.ts';

// YAML is read in a thread, which is a file of its own in what is built.
const configMaps = '/api/v1/namespaces/default/configmaps';
const yaml = { 'content-type': 'application/yaml' };

describe('YAML bodies', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());
  const create = (body: string) => server.request('POST', configMaps, body, yaml);

  it('are read, small and large', async () => {
    const data = Array.from({ length: 5_000 }, (_, i) => `  key-${i}: value ${i}\n`).join('');
    for (const [name, text] of [
      ['small', '  a: b\n'],
      ['large', data],
    ] as const) {
      const answer = await create(`metadata:\n  name: ${name}\ndata:\n${text}`);
      expect(answer.status).toBe(201);
      expect(answer.body.data).toEqual(
        Object.fromEntries([...text.matchAll(/(\S+): (.*)/g)].map(([, k, v]) => [k, v])),
      );
    }
  });

  it('do not stop the server when they are deeply nested, large or many', async () => {
    const nested = `${'- '.repeat(5_000)}a`;
    const wide = `a:\n${'- []\n'.repeat(5_000)}`;
    const faulty = `a: "${'\\q'.repeat(1_500_000)}"`;
    const bodies = [nested, nested, ...Array<string>(10).fill(wide), ...Array<string>(8).fill(faulty)];
    const answers = await Promise.all(bodies.map((body) => create(body)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.slice(0, 12)).toEqual([400, 400, ...Array<number>(10).fill(422)]);
    // The largest ones may be too many at once.
    for (const status of statuses.slice(12)) expect([400, 429]).toContain(status);
    expect((await create('metadata:\n  name: after\n')).status).toBe(201);
    expect(server.process.exitCode).toBeNull();
  });
});

describe('an embedded server', () => {
  it('reads YAML, and does not keep the process alive', async () => {
    const program = `
      import { createServer } from './dist/server/index.js';
      const { handler } = await createServer();
      const { status } = await handler({
        method: 'POST',
        url: ${JSON.stringify(configMaps)},
        headers: ${JSON.stringify(yaml)},
        peer: { address: '', certificate: { commonName: 'admin', organizations: ['system:masters'] } },
        body: async () => Buffer.from('metadata:\\n  name: a\\n'),
        stream: () => undefined,
        upgrades: false,
        signal: new AbortController().signal,
      });
      console.log(status);
    `;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
    expect(await run).toMatchObject({ stdout: '201\n', stderr: '' });
  });
});
