import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createServer, type OrchServer } from '../server.ts';

const open: OrchServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

/** A server with these policies. */
async function start(policies: string, authorizationMode = 'ABAC') {
  const authorizationPolicyFile = join(mkdtempSync(join(tmpdir(), 'orch-')), 'policies.jsonl');
  writeFileSync(authorizationPolicyFile, policies);
  const server = await createServer({
    apiDomain: 'k8s.io',
    controllers: '-*',
    authorizationMode,
    authorizationPolicyFile,
  });
  open.push(server);
  const statusOf = async (user: string, group: string, method: string, url: string) => {
    const headers = { 'impersonate-user': user, 'impersonate-group': group };
    return (await server.client.request({ method, url, headers })).status;
  };
  return statusOf;
}

/** The policies that the documentation shows. */
const documented = (): string => {
  const page = readFileSync(new URL('../../../docs/access-policies.md', import.meta.url), 'utf8');
  return /```jsonl\n(.*?)```/s.exec(page)?.[1] ?? '';
};

describe('the policies of the documentation', () => {
  it.each([
    ['jane', 'x', 'GET', '/apis/apps/v1/namespaces/any/deployments', 200],
    ['tom', 'dev', 'GET', '/api/v1/namespaces/shop/pods', 200],
    ['tom', 'dev', 'DELETE', '/api/v1/namespaces/shop/pods', 403],
    ['tom', 'dev', 'GET', '/api/v1/namespaces/other/pods', 403],
    ['tom', 'x', 'GET', '/api/v1/namespaces/shop/pods', 403],
    ['tom', 'x', 'GET', '/version', 200],
    ['tom', 'x', 'GET', '/apis', 403],
  ])('%s of %s: %s %s: %i', async (user, group, method, url, status) => {
    const statusOf = await start(documented());
    expect(await statusOf(user, group, method, url)).toBe(status);
  });
});

it('policies and roles are asked in the order of the modes', async () => {
  const statusOf = await start(documented(), 'RBAC,ABAC');
  expect(await statusOf('tom', 'dev', 'GET', '/api/v1/namespaces/shop/pods')).toBe(200);
  expect(await statusOf('tom', 'x', 'GET', '/apis')).toBe(200);
  expect(await statusOf('tom', 'x', 'GET', '/api/v1/namespaces/shop/pods')).toBe(403);
});

it('a line that cannot be read ends the start', async () => {
  await expect(start('# a\n{"user":5}\n')).rejects.toThrow(
    /--authorization-policy-file=".*policies.jsonl": line 2 has a user that is not a string/,
  );
});
