import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CertKeyPair, issueCertificate } from '../src/pki/index.ts';
import { openEtcdStore } from '../src/store/index.ts';
import { startEtcd, type TestEtcd } from '../src/store/testing/etcd.ts';
import { realClock, realRandom } from '../src/store/testing/real-time.ts';
import { etcdPath } from './support/requirements.ts';

const program = etcdPath();
const times = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 };

describe.skipIf(program === undefined)('a store over etcd with TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  const certfile = join(folder, 'client.crt');
  const keyfile = join(folder, 'client.key');
  const cafile = join(folder, 'ca.crt');
  let etcd: TestEtcd;
  const write = (name: string, { cert, key }: CertKeyPair) => {
    writeFileSync(join(folder, `${name}.crt`), cert);
    writeFileSync(join(folder, `${name}.key`), key);
  };
  beforeAll(async () => {
    const [authority, other] = ['ca', 'other'].map((name) => {
      const pair = issueCertificate({ commonName: name, usage: 'authority', ...times });
      write(name, pair);
      return { ...pair, name };
    });
    write(
      'server',
      issueCertificate({ commonName: 'etcd', usage: 'server', hosts: ['127.0.0.1'], ...times }, authority),
    );
    write('client', issueCertificate({ commonName: 'orch', usage: 'client', ...times }, authority));
    write('stranger', issueCertificate({ commonName: 'orch', usage: 'client', ...times }, other));
    const args = ['--client-cert-auth', `--trusted-ca-file=${cafile}`];
    args.push(`--cert-file=${join(folder, 'server.crt')}`, `--key-file=${join(folder, 'server.key')}`);
    etcd = await startEtcd(program ?? '', { scheme: 'https', args });
  });
  afterAll(async () => {
    await etcd.stop();
    rmSync(folder, { recursive: true });
  });
  /** The patience of a store is 10 s of its clock. */
  const open = (files: { cafile?: string; certfile?: string; keyfile?: string }) =>
    openEtcdStore({ servers: etcd.servers, prefix: '/registry', clock: realClock(20), random: realRandom, ...files });

  test('reads, writes and watches with a client certificate', async () => {
    const store = await open({ cafile, certfile, keyfile });
    const { revision } = await store.commit([], [{ key: '/a', value: Buffer.from('x') }]);
    expect((await store.get('/a')).entry?.revision).toBe(revision);
    const seen = await new Promise((resolve, error) => store.watch('/a', revision - 1, { batch: resolve, error }));
    expect(seen).toBe(revision);
    await store.close();
  });
  test.each([
    ['without the authority of the server', { certfile, keyfile }],
    ['without a client certificate', { cafile }],
    ['of another authority', { cafile, certfile: join(folder, 'stranger.crt'), keyfile: join(folder, 'stranger.key') }],
  ])('fails as unavailable with the reason: %s', async (_, files) => {
    await expect(open(files)).rejects.toMatchObject({
      name: 'StoreError',
      code: 'unavailable',
      message: expect.stringMatching(/^etcd has failed: .*(certificate|handshake|ECONNRESET|Connection)/i),
    });
  });
});
