import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Credentials } from '../transport/credentials.ts';
import { connectionOf } from './connection.ts';
import type { ExecEnvironment } from './exec-plugin.ts';
import { parseKubeconfig } from './kubeconfig.ts';

const apiVersion = 'client.authentication.orch.io/v1';
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-exec-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A plugin that prints a credential, and counts its runs. */
function plugin(status: object | string, version = apiVersion): void {
  const output =
    typeof status === 'string' ? status : JSON.stringify({ apiVersion: version, kind: 'ExecCredential', status });
  writeFileSync(join(folder, 'out.json'), output);
  const path = join(folder, 'plugin');
  writeFileSync(path, `#!/bin/sh\ncd "${folder}"\nenv > env\necho "run $@" >> runs\ncat out.json\n`);
  chmodSync(path, 0o755);
}

const runs = () => readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n').length;

interface User {
  readonly exec?: object;
  readonly environment?: ExecEnvironment;
}

async function credentialsOf({ exec = {}, environment = {} }: User = {}): Promise<Credentials> {
  const full = { apiVersion, command: './plugin', interactiveMode: 'Never', ...exec };
  const config = {
    clusters: [
      {
        name: 'c',
        cluster: {
          server: 'https://127.0.0.1:6443',
          'certificate-authority-data': Buffer.from('PEM').toString('base64'),
          extensions: [{ name: 'client.authentication.orch.io/exec', extension: { audience: 'a' } }],
        },
      },
    ],
    users: [{ name: 'u', user: { exec: full } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  const parsed = parseKubeconfig(JSON.stringify(config), join(folder, 'config'));
  const { credentials } = await connectionOf(parsed, {}, environment);
  if (credentials === undefined) throw new Error('the user has no credentials');
  return credentials;
}

// access.md, "Exec credential" and "Client exec plugin".
describe('an exec plugin', () => {
  it('supplies a token, and runs in the folder of the kubeconfig with its arguments and variables', async () => {
    plugin({ token: 'secret' });
    const credentials = await credentialsOf({ exec: { args: ['a', 'b c'], env: [{ name: 'REGION', value: 'eu' }] } });
    expect(await credentials.current()).toEqual({ authorization: 'Bearer secret', certificate: undefined });
    expect(readFileSync(join(folder, 'runs'), 'utf8')).toBe('run a b c\n');
    expect(readFileSync(join(folder, 'env'), 'utf8')).toMatch(/^REGION=eu$/m);
  });

  it('reads its input in the variable of the API domain', async () => {
    plugin({ token: 't' });
    await (await credentialsOf({ exec: { provideClusterInfo: true } })).current();
    const info = /^ORCH_EXEC_INFO=(.*)$/m.exec(readFileSync(join(folder, 'env'), 'utf8'))?.[1] ?? '';
    expect(JSON.parse(info)).toEqual({
      kind: 'ExecCredential',
      apiVersion,
      spec: {
        interactive: false,
        cluster: {
          server: 'https://127.0.0.1:6443',
          'certificate-authority-data': Buffer.from('PEM').toString('base64'),
          config: { audience: 'a' },
        },
      },
    });
    const version = 'client.authentication.k8s.io/v1beta1';
    plugin({ token: 't' }, version);
    await (await credentialsOf({ exec: { apiVersion: version } })).current();
    expect(readFileSync(join(folder, 'env'), 'utf8')).toMatch(
      /^KUBERNETES_EXEC_INFO=.*"spec":\{"interactive":false\}\}$/m,
    );
  });

  it('runs once for requests at the same time, and not again before its credential expires', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    plugin({ token: 't', expirationTimestamp: '2026-01-01T01:00:00Z' });
    const credentials = await credentialsOf({ environment: { now: () => now } });
    await Promise.all([credentials.current(), credentials.current(), credentials.current()]);
    now += 3_599_999;
    await credentials.current();
    expect(runs()).toBe(1);
    now += 1;
    await credentials.current();
    expect(runs()).toBe(2);
  });

  it('runs again after the server has rejected its credential, once for all requests with it', async () => {
    plugin({ token: 't' });
    const credentials = await credentialsOf();
    const first = await credentials.current();
    expect(credentials.reject(first)).toBe(true);
    await credentials.current();
    // A request that was sent with the first credential reports it late.
    credentials.reject(first);
    await credentials.current();
    expect(runs()).toBe(2);
  });

  it('supplies a client certificate with its key, alone or with a token', async () => {
    plugin({ clientCertificateData: 'C', clientKeyData: 'K' });
    expect(await (await credentialsOf()).current()).toEqual({
      authorization: undefined,
      certificate: { cert: 'C', key: 'K' },
    });
    plugin({ token: 't', clientCertificateData: 'C', clientKeyData: 'K' });
    expect(await (await credentialsOf()).current()).toMatchObject({ authorization: 'Bearer t' });
  });

  it.each([
    ['only a certificate', { clientCertificateData: 'C' }, 'exec plugin returned only certificate or key, not both'],
    ['neither token nor certificate', {}, "exec plugin didn't return a token or cert/key pair"],
    [
      'a time that is none',
      { token: 't', expirationTimestamp: 'soon' },
      'status.expirationTimestamp must be a time of RFC 3339',
    ],
    ['no JSON', 'secret token', 'decoding stdout: the output is not a JSON object'],
    ['another kind', '{"kind":"Pod"}', 'the output is not an ExecCredential'],
    ['no status', JSON.stringify({ kind: 'ExecCredential', apiVersion }), "exec plugin didn't return a status field"],
  ])('that prints %s is an error, which quotes no output', async (_, status, message) => {
    plugin(status);
    const failure = await (await credentialsOf()).current().catch((error: Error) => error.message);
    expect(failure).toContain(message);
    expect(failure).not.toContain('secret');
  });

  it('that answers in another version is an error', async () => {
    plugin({ token: 't' }, 'client.authentication.orch.io/v1beta1');
    await expect((await credentialsOf()).current()).rejects.toThrow(
      `exec plugin is configured to use API version ${apiVersion}, plugin returned version client.authentication.orch.io/v1beta1`,
    );
  });

  it('that is missing is an error with the hint how to install it', async () => {
    const credentials = await credentialsOf({
      exec: { command: 'orch-no-such-plugin', installHint: 'Install it so.' },
    });
    await expect(credentials.current()).rejects.toThrow(
      'getting credentials: exec: executable orch-no-such-plugin not found\n\nInstall it so.',
    );
  });

  it('that fails is an error with its exit code, and runs again for the next request', async () => {
    plugin({ token: 't' });
    writeFileSync(join(folder, 'plugin'), '#!/bin/sh\nexit 3\n');
    const credentials = await credentialsOf();
    await expect(credentials.current()).rejects.toThrow(/exec: executable \S+plugin failed with exit code 3/);
    plugin({ token: 't' });
    expect(await credentials.current()).toMatchObject({ authorization: 'Bearer t' });
  });

  it('whose output has no end is stopped after a megabyte', async () => {
    plugin({ token: 't' });
    writeFileSync(join(folder, 'plugin'), '#!/bin/sh\nyes\n');
    await expect((await credentialsOf()).current()).rejects.toThrow('larger than 1 MiB');
  });

  it('must say in v1 how it uses a terminal; v1beta1 has a default', async () => {
    const message = 'interactiveMode must be specified for u to use exec authentication plugin';
    await expect(credentialsOf({ exec: { interactiveMode: null } })).rejects.toThrow(message);
    await expect(credentialsOf({ exec: { interactiveMode: 'Sometimes' } })).rejects.toThrow(
      'invalid interactiveMode for u: "Sometimes"',
    );
    const exec = { interactiveMode: null, apiVersion: 'client.authentication.orch.io/v1beta1' };
    await expect(credentialsOf({ exec })).resolves.toBeDefined();
  });

  it('that needs a terminal is not run without one', async () => {
    plugin({ token: 't' });
    const credentials = await credentialsOf({
      exec: { interactiveMode: 'Always' },
      environment: { isInteractive: false },
    });
    await expect(credentials.current()).rejects.toThrow('standard input is not a terminal');
    expect(() => runs()).toThrow();
  });

  it.each([
    ['apiVersion', { apiVersion: null }, 'apiVersion must be specified for u'],
    ['apiVersion', { apiVersion: 'example.com/v1' }, 'exec plugin: invalid apiVersion "example.com/v1"'],
    ['command', { command: null }, 'command must be specified for u'],
    ['env', { env: [{ value: 'a' }] }, 'env variable name must be specified for u'],
  ])('is refused without a valid %s', async (_, exec, message) => {
    await expect(credentialsOf({ exec })).rejects.toThrow(message);
  });
});
