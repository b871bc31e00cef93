import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificates } from '../src/http/testing/fixture.ts';
import type { ApiObject } from '../src/meta/index.ts';
import { createServer, type OrchServer } from '../src/server/index.ts';
import { agentNode, pod, pods } from './console/objects.ts';
import { goTo, offencesOf, openConsole, seriousFindings, startBrowser } from './support/browser.ts';
import { type IdentityProvider, startIdentityProvider } from './support/identity-provider.ts';
import { type NodeAgent, startNodeAgent } from './support/node-agent.ts';
import { chromiumPath } from './support/requirements.ts';

// Signing in to the console with an identity provider, and its terminal, in an API domain of our own.
const chromium = chromiumPath();
const { ca, cert, key, clientCert, clientKey } = makeCertificates();
const folder = mkdtempSync(join(tmpdir(), 'orch-console-'));

let browser: Browser;
let server: OrchServer;
let url: string;
let provider: IdentityProvider;
let agent: NodeAgent;
let page: Page;

beforeAll(async () => {
  if (chromium === undefined) return;
  const groups = { jane: ['developers'], tom: ['operators'] };
  provider = await startIdentityProvider({ tls: { cert, key }, client: 'orch', groups });
  agent = await startNodeAgent({ cert, key, ca }, (_, response) => response.end('log\n'));
  server = await createServer({
    apiDomain: 'orch.io',
    console: true,
    consoleOidcScopes: ['offline_access'],
    controllers: '-*',
    disableAdmissionPlugins: ['ServiceAccount'],
    kubeletCertificateAuthority: file('ca.crt', ca),
    kubeletClientCertificate: file('client.crt', clientCert),
    kubeletClientKey: file('client.key', clientKey),
    oidcCaFile: file('ca.crt', ca),
    oidcClientId: 'orch',
    oidcGroupsClaim: 'groups',
    oidcGroupsPrefix: 'oidc:',
    oidcIssuerUrl: provider.issuer,
    oidcUsernamePrefix: 'oidc:',
    securePort: 0,
  });
  url = (await server.listen()).url;
  provider.allowRedirect(`${url}/console/`);
  await allow('developers', 'system:aggregate-to-view');
  await allow('operators', 'cluster-admin');
  await server.client.create(...agentNode('here', agent.port));
  await server.client.create(pods, pod('web', { nodeName: 'here' }));
  browser = await startBrowser(chromium);
  page = await openConsole(browser, url, { issuer: [provider.issuer, provider.tokenOrigin] });
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
  await provider?.close();
  await agent?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The path of a file with a text, which only this user may read. */
function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text, { mode: 0o600 });
  return join(folder, name);
}

/** Gives a group of the provider a role. */
const allow = (group: string, role: string) =>
  server.client.create<ApiObject>({ apiVersion: 'rbac.authorization.orch.io/v1', resource: 'clusterrolebindings' }, {
    apiVersion: 'rbac.authorization.orch.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: group },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.orch.io', kind: 'Group', name: `oidc:${group}` }],
  } as ApiObject);

const signInButton = () => page.getByRole('button', { name: 'Sign in with 127.0.0.1' });

describe.skipIf(chromium === undefined)('the console and an identity provider, in a browser', () => {
  afterEach(() => {
    expect(offencesOf(page)).toEqual({ requests: [], violations: [], errors: [] });
  });

  it('signs users in by the provider, with their groups, and returns to the address where they were', async () => {
    await page.goto(`${url}/console/#/list/v1/configmaps`);
    await signInButton().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await signInButton().click();
    await page.getByRole('link', { name: 'jane' }).click();
    await page.getByText('oidc:jane').waitFor();
    await page.getByRole('heading', { name: 'ConfigMap' }).waitFor();
    await page.locator('[data-testid=live-status][data-status=live]').waitFor();
    expect(page.url()).toBe(`${url}/console/#/list/v1/configmaps`);
    expect(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]')).toEqual([0, 0, '']);
    // Who may read pods may not run commands in them.
    await goTo(page, '#/object/v1/pods/default/web');
    await page.getByRole('link', { name: 'Logs' }).waitFor();
    expect(await page.getByRole('link', { name: 'Terminal' }).count()).toBe(0);
  });

  it('signs out at the provider as well, which asks who signs in next', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign out here' }).click();
    await signInButton().waitFor();
    expect(page.url()).toBe(`${url}/console/`);
    await signInButton().click();
    await page.getByRole('link', { name: 'deny' }).waitFor();
  });

  it('shows why the provider refuses, as text', async () => {
    await page.getByRole('link', { name: 'deny' }).click();
    const why = 'The identity provider refuses: access_denied: <i>not today</i>';
    await page.getByRole('alert').getByText(why, { exact: true }).waitFor();
    expect(await page.locator('i').count()).toBe(0);
    expect(page.url()).toBe(`${url}/console/`);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  it('refuses the response to a sign-in that another tab or site has begun', async () => {
    await page.goto(`${url}/console/?code=stolen&state=unknown#/list/v1/pods`);
    await page.getByRole('alert').getByText('This sign-in did not begin in this tab').waitFor();
    expect(page.url()).toBe(`${url}/console/#/list/v1/pods`);
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
  });

  it('runs commands in a container of a pod, in a terminal that follows the size of the page', async () => {
    await page.getByRole('button', { name: 'Sign in with 127.0.0.1' }).click();
    await page.getByRole('link', { name: 'tom' }).click();
    await page.getByText('oidc:tom').waitFor();
    await goTo(page, '#/object/v1/pods/default/web');
    await page.getByRole('link', { name: 'Terminal' }).click();
    await run('size', 'Connect');
    await screen().getByText('{"Width":').first().waitFor();
    expect(agent.seen.at(-1)).toContain('/exec/default/web/side?');
    await page.setViewportSize({ width: 700, height: 600 });
    await screen().getByText('{"Width":').nth(1).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('sends what the user types, and shows colours without an inline style', async () => {
    await run('cat', 'Reconnect');
    await page.locator('.xterm textarea:focus').waitFor({ state: 'attached' });
    await page.getByRole('status').getByText('Shift+Tab leaves the terminal.').waitFor();
    await page.keyboard.type('typed');
    await screen().getByText('typed').waitFor();
    await page.keyboard.press('Shift+Tab');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('BUTTON');
    // A colour of 24 bits, which the terminal sets by an attribute.
    await run('say \u001b[38;2;255;128;0morange', 'Reconnect');
    await screen().getByText('orange').waitFor();
    const spans = "[...document.querySelectorAll('.xterm-rows span')]";
    const orange = `${spans}.find(({ textContent }) => textContent === 'orange')`;
    expect(await page.evaluate(`getComputedStyle(${orange}).color`)).toBe('rgb(255, 128, 0)');
  });

  it('shows the exit code of a command, and why none runs', async () => {
    await run('fail', 'Reconnect');
    await page.getByRole('status').getByText('The command has ended with exit code 3.').waitFor();
    await server.client.delete({ ...pods, name: 'web' }, { gracePeriodSeconds: 0 });
    await run('cat', 'Reconnect');
    await page.getByRole('alert').getByText('pods "web" not found').waitFor();
    await expect.poll(() => agent.streams.size).toBe(0);
  });
});

const screen = () => page.locator('.xterm-rows');

/** Starts a command in the second container. */
async function run(command: string, button: string): Promise<void> {
  await page.getByLabel('Container').selectOption('side');
  await page.getByLabel('Command').fill(command);
  await page.getByRole('button', { name: button }).click();
}
