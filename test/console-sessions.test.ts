import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificates } from '../src/http/testing/fixture.ts';
import type { ApiObject } from '../src/meta/index.ts';
import { createServer, type OrchServer } from '../src/server/index.ts';
import { offencesOf, openConsole, seriousFindings, startBrowser } from './support/browser.ts';
import { type IdentityProvider, startIdentityProvider } from './support/identity-provider.ts';
import { chromiumPath } from './support/requirements.ts';

// Signing in to the console with an identity provider.
const chromium = chromiumPath();
const { ca, cert, key } = makeCertificates();
const folder = mkdtempSync(join(tmpdir(), 'orch-console-'));

let browser: Browser;
let server: OrchServer;
let url: string;
let provider: IdentityProvider;
let page: Page;

beforeAll(async () => {
  if (chromium === undefined) return;
  const groups = { jane: ['developers'], tom: [] };
  provider = await startIdentityProvider({ tls: { cert, key }, client: 'orch', groups });
  writeFileSync(join(folder, 'ca.crt'), ca);
  server = await createServer({
    apiDomain: 'k8s.io',
    console: true,
    consoleOidcScopes: ['offline_access'],
    controllers: '-*',
    oidcCaFile: join(folder, 'ca.crt'),
    oidcClientId: 'orch',
    oidcGroupsClaim: 'groups',
    oidcGroupsPrefix: 'oidc:',
    oidcIssuerUrl: provider.issuer,
    oidcUsernamePrefix: 'oidc:',
    securePort: 0,
  });
  url = (await server.listen()).url;
  provider.allowRedirect(`${url}/console/`);
  await allowDevelopers();
  browser = await startBrowser(chromium);
  page = await openConsole(browser, url, provider.issuer);
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
  await provider?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Lets the developers of the provider read everything. */
const allowDevelopers = () =>
  server.client.create<ApiObject>({ apiVersion: 'rbac.authorization.k8s.io/v1', resource: 'clusterrolebindings' }, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'developers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:aggregate-to-view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'oidc:developers' }],
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
  });

  it('shows why the provider refuses, as text', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.context().clearCookies();
    await signInButton().click();
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
});
