import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificates } from '../src/http/testing/fixture.ts';
import { type ApiObject, createServer, type OrchServer } from '../src/server/index.ts';
import { benchOf } from './console/bench.ts';
import { editScenarios } from './console/edit-scenarios.ts';
import { formScenarios } from './console/form-scenarios.ts';
import { graphScenarios } from './console/graph-scenarios.ts';
import { historyScenarios } from './console/history-scenarios.ts';
import { agentNode, configMap, configMaps } from './console/objects.ts';
import { signInScenarios } from './console/sign-in-scenarios.ts';
import { serveLog, workloadScenarios } from './console/workload-scenarios.ts';
import {
  foreignElements,
  goTo,
  offencesOf,
  openConsole,
  seriousFindings,
  signIn,
  startBrowser,
} from './support/browser.ts';
import { type NodeAgent, startNodeAgent } from './support/node-agent.ts';
import { chromiumPath } from './support/requirements.ts';
import { startWith } from './support/start.ts';

// The console as people use it: the built page in a browser, against a server in this process.
const chromium = chromiumPath();
const tokens = { admin: 'token-of-an-administrator', viewer: 'token-of-a-viewer', nobody: 'token-of-nobody' };
const folder = mkdtempSync(join(tmpdir(), 'orch-console-'));

/** Those of the node agent, and of a browser that presents one. */
const certificates = makeCertificates();
const certificate = { cert: certificates.clientCert, key: certificates.clientKey };

let browser: Browser;
let server: OrchServer;
let url: string;
let page: Page;
let agent: NodeAgent;
/** Ten thousand config maps, which are created during the first scenarios. */
let many: Promise<void>;

async function start(port = 0): Promise<void> {
  server = await createServer({
    apiDomain: 'k8s.io',
    clientCaFile: join(folder, 'test-authority.crt'),
    console: true,
    controllers: '-*',
    dataDir: folder,
    kubeletCertificateAuthority: join(folder, 'test-authority.crt'),
    objectHistory: true,
    securePort: port,
    store: 'lmdb',
    // Pods without service accounts.
    disableAdmissionPlugins: ['ServiceAccount'],
    tokenAuthFile: join(folder, 'tokens.csv'),
  });
  url = (await server.listen()).url;
}

/** Waits until the table on the page has a row. */
const row = (name: string) => page.locator('tbody tr', { has: page.getByRole('link', { name, exact: true }) });
const count = () => page.getByTestId('count');
const isLive = () => page.locator('[data-testid=live-status][data-status=live]').first().waitFor();

/** Replaces a line of the editor. */
async function replaceLine(containing: string, text: string): Promise<void> {
  await page.locator('.cm-content[contenteditable=true] .cm-line', { hasText: containing }).click();
  await page.keyboard.press('End');
  await page.keyboard.press('Shift+Home');
  await page.keyboard.press('Shift+Home');
  await page.keyboard.press('Backspace');
  await page.keyboard.type(text);
}

beforeAll(async () => {
  const rows = [`${tokens.admin},admin,1,"system:masters"`, `${tokens.viewer},viewer,2`, `${tokens.nobody},nobody,3`];
  writeFileSync(join(folder, 'tokens.csv'), `${rows.join('\n')}\n`, { mode: 0o600 });
  writeFileSync(join(folder, 'test-authority.crt'), certificates.ca);
  await start();
  if (chromium === undefined) return;
  agent = await startNodeAgent({ cert: certificates.cert, key: certificates.key }, ({ url: path = '' }, response) =>
    serveLog(path, response),
  );
  await server.client.create(...agentNode('agent', agent.port));
  many = createMany();
  browser = await startBrowser(chromium);
  page = await openConsole(browser, url);
});

afterAll(async () => {
  await browser?.close();
  await server.close();
  await agent?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(chromium === undefined)('the console in a browser', () => {
  afterEach(() => {
    // No scenario sends a request elsewhere, meets the content security policy, or leaves an error.
    expect(offencesOf(page)).toEqual({ requests: [], violations: [], errors: [] });
  });

  it('refuses an unknown token, and keeps an accepted one in memory only', async () => {
    await page.getByLabel('Bearer token').fill('unknown');
    await page.getByRole('button', { name: 'Sign in with the token' }).click();
    await page.getByRole('alert').getByText('The server does not accept this token.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await signIn(page, tokens.admin);
    const stored = await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]');
    expect(stored).toEqual([0, 0, '']);
    await page.reload();
    await signIn(page, tokens.admin);
  });

  it('lists the kinds by group, and the objects of one in the columns of the server', async () => {
    await server.client.create(configMaps, configMap('first', { a: '1', b: '2' }));
    await page.getByRole('navigation', { name: 'Kinds' }).getByRole('link', { name: 'ConfigMap', exact: true }).click();
    await isLive();
    const headers = await page.locator('thead th').allInnerTexts();
    expect(headers.map((text) => text.trim())).toEqual(['Namespace', 'Name', 'Data', 'Age']);
    expect((await row('first').locator('td').allInnerTexts()).slice(0, 3)).toEqual(['default', 'first', '2']);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('Namespace', { exact: true }).selectOption('default');
  });

  it('shows a write, another one and a deletion without a reload', async () => {
    await server.client.create(configMaps, configMap('written'));
    await row('written').waitFor();
    await server.client.update({ ...configMaps, name: 'written' }, configMap('written', { a: '', b: '', c: '' }));
    await row('written').locator('td', { hasText: /^3$/ }).waitFor();
    await server.client.delete({ ...configMaps, name: 'written' });
    await row('written').waitFor({ state: 'detached' });
  });

  it('selects rows by text and by labels, and sorts them', async () => {
    await server.client.create(configMaps, configMap('labelled', {}, { labels: { colour: 'green' } }));
    await row('labelled').waitFor();
    await page.getByLabel('Filter rows by text').fill('colour=green');
    await row('first').waitFor({ state: 'detached' });
    expect(await count().innerText()).toMatch(/^Objects: 1 of \d+$/);
    await page.getByLabel('Filter rows by text').fill('');
    await page.getByLabel('Label selector').fill('colour=green');
    await page.getByLabel('Label selector').press('Enter');
    await page.getByText('Objects: 1', { exact: true }).waitFor();
    await page.getByLabel('Label selector').fill('');
    await page.getByLabel('Label selector').press('Enter');
    await row('first').waitFor();
    await page.getByRole('button', { name: 'Sort by Name', exact: true }).click();
    await page.getByRole('button', { name: 'Sort by Name', exact: true }).click();
    const names = await page.locator('tbody td:first-child').allInnerTexts();
    expect(names).toEqual([...names].sort().reverse());
  });

  it('shows the kind of a definition that is installed meanwhile', async () => {
    await page.getByLabel('Filter kinds').fill('lighthouse');
    await server.client.create(
      { apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions' },
      definition('lighthouses', 'Lighthouse', { type: 'object' }),
    );
    await page.getByRole('link', { name: 'Lighthouse', exact: true }).click();
    await page.getByRole('heading', { name: 'Lighthouse', exact: true }).waitFor();
    await page.getByLabel('Filter kinds').fill('');
  });

  it('resolves a conflict with another field manager as the user chooses', async () => {
    const place = { ...configMaps, name: 'painted' };
    await server.client.apply(place, configMap('painted', { colour: 'green' }), { fieldManager: 'painter' });
    await goTo(page, '#/object/v1/configmaps/default/painted');
    await page.locator('.cm-owners').getByText('painter').first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Edit' }).click();
    await replaceLine('colour: green', '  colour: blue');
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByTestId('conflicts').getByText('.data.colour').waitFor();
    await page.getByTestId('conflicts').getByText('painter').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Keep their values' }).click();
    await page.getByText('Nothing changes.').waitFor();
    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'Take over these fields' }).click();
    await page.locator('.cm-changedLine').getByText('blue').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.cm-owners').getByText('console').first().waitFor();
    expect(await server.client.get(place)).toMatchObject({ data: { colour: 'blue' } });
  });

  it('removes a field of another manager after a warning, and refuses YAML that is none', async () => {
    await page.getByRole('button', { name: 'Edit' }).click();
    await replaceLine('colour: blue', '  colour: [');
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('alert').getByText('The YAML is not valid').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const place = { ...configMaps, name: 'shared' };
    await server.client.apply(place, configMap('shared', { kept: 'yes', removed: 'yes' }), { fieldManager: 'painter' });
    await goTo(page, '#/object/v1/configmaps/default/shared');
    await page.getByRole('heading', { name: 'shared' }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await replaceLine('removed', '');
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByText('You removed fields that other field managers own').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Edit' }).waitFor();
    const { data } = (await server.client.get(place)) as ApiObject & { data: object };
    expect(data).toEqual({ kept: 'yes' });
  });

  it('creates an object from an example of its schema, and deletes it with what depends on it', async () => {
    await goTo(page, '#/create/v1/configmaps');
    await page.locator('.cm-content').getByText('name: example').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'example', exact: true }).waitFor();
    const { metadata } = await server.client.get({ ...configMaps, name: 'example' });
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'example', uid: metadata.uid ?? '' };
    await server.client.create(configMaps, configMap('dependent', {}, { ownerReferences: [owner] }));
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('link', { name: 'ConfigMap dependent' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The object has been deleted.').waitFor();
  });

  it('shows ten thousand objects with a few rows in the document', async () => {
    await many;
    await goTo(page, '#/list/v1/configmaps');
    await page.getByLabel('Namespace', { exact: true }).selectOption('many');
    await page.getByText('Objects: 10000').waitFor();
    expect(await page.locator('tbody tr').count()).toBeLessThan(100);
    await page.locator('.scroller').focus();
    await page.keyboard.press('End');
    await row('map-09999').waitFor();
    await page.getByLabel('Filter rows by text').fill('map-04711');
    await page.getByText('Objects: 1 of 10000').waitFor();
    await row('map-04711').waitFor();
    await page.getByLabel('Filter rows by text').fill('');
  });

  it('connects again to a server that was restarted, and misses nothing', async () => {
    await goTo(page, '#/list/v1/configmaps');
    await page.getByLabel('Namespace', { exact: true }).selectOption('default');
    await row('first').waitFor();
    const port = Number(new URL(url).port);
    await server.close();
    await page.locator('[data-testid=live-status][data-status=reconnecting]').waitFor();
    await start(port);
    await server.client.create(configMaps, configMap('after-the-restart'));
    await server.client.delete({ ...configMaps, name: 'first' });
    await row('after-the-restart').waitFor();
    await row('first').waitFor({ state: 'detached' });
    await isLive();
  });

  it('never makes markup of what others have written', async () => {
    await injectEverywhere();
    await goTo(page, '#/list/example.com%2Fv1/injections');
    await isLive();
    await row('injected').waitFor();
    for (const payload of payloads) await page.locator('thead').getByText(payload, { exact: true }).waitFor();
    expect(await foreignElements(page)).toEqual([]);
    await goTo(page, '#/object/example.com%2Fv1/injections/default/injected');
    await page.locator('.cm-content').getByText('kind: Injection').waitFor();
    await page.locator('.cm-content').getByText('field0').click();
    await page
      .getByTestId('field')
      .getByText(payloads[0] ?? '')
      .waitFor();
    for (const payload of payloads) await page.locator('.panel td').getByText(payload, { exact: true }).waitFor();
    expect(await foreignElements(page)).toEqual([]);
    await goTo(page, '#/object/example.com%2Fv1/injections/default/injected/history');
    const versions = page.getByRole('table', { name: 'History' });
    for (const payload of payloads) await versions.getByText(payload, { exact: true }).first().waitFor();
    await goTo(page, '#/object/example.com%2Fv1/injections/default/injected/form');
    for (const index of payloads.keys()) await page.locator(`[id="field-spec.field${index}-hint"]`).waitFor();
    expect(await foreignElements(page)).toEqual([]);
    await goTo(page, '#/object/v1/configmaps/default/owned/graph');
    for (const payload of payloads) await page.locator('.panel li').getByText(`Injection ${payload}`).waitFor();
    expect(await foreignElements(page)).toEqual([]);
    await goTo(page, '#/create/example.com%2Fv1/injections');
    await page.locator('.cm-content').getByText('field0').first().click();
    expect(await foreignElements(page)).toEqual([]);
    expect(await page.evaluate(() => 'injected' in globalThis)).toBe(false);
  });

  it('has no serious finding in dark colours, in German, and on a phone', async () => {
    await goTo(page, '#/load');
    await page.locator('.chart canvas').first().waitFor();
    await page.getByRole('table', { name: 'Requests in progress' }).getByText('admin').first().waitFor();
    await page.getByLabel('Theme').selectOption('dark');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('Language').selectOption('de');
    await page.getByRole('heading', { name: 'Last' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    await page.setViewportSize({ width: 390, height: 800 });
    await goTo(page, '#/list/v1/configmaps');
    await row('after-the-restart').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByLabel('Sprache').selectOption('en');
    await page.getByLabel('Theme').selectOption('auto');
  });

  it('offers a user only what the user may do', async () => {
    const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', namespace: 'default' };
    const { apiVersion } = rbac;
    await server.client.create({ ...rbac, resource: 'roles' }, {
      apiVersion,
      kind: 'Role',
      metadata: { name: 'viewer' },
      rules: [{ apiGroups: [''], resources: ['configmaps', 'events'], verbs: ['get', 'list', 'watch'] }],
    } as ApiObject);
    await server.client.create({ ...rbac, resource: 'rolebindings' }, {
      apiVersion,
      kind: 'RoleBinding',
      metadata: { name: 'viewer' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'viewer' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'viewer' }],
    } as ApiObject);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, tokens.viewer);
    await page.getByLabel('Namespace', { exact: true }).fill('default');
    await page.getByLabel('Namespace', { exact: true }).press('Enter');
    await goTo(page, '#/list/v1/configmaps');
    await row('painted').waitFor();
    expect(await page.getByRole('link', { name: 'Create' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Secret', exact: true }).count()).toBe(0);
    await row('painted').getByRole('link').click();
    await page.locator('.cm-content').getByText('colour').waitFor();
    await page.getByText('No events.').waitFor();
    for (const name of ['Edit', 'Delete']) expect(await page.getByRole('button', { name }).count()).toBe(0);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, tokens.nobody);
    await page.getByText('You may not list any kind in this namespace.').waitFor();
    expect(await page.getByRole('link', { name: 'Load' }).count()).toBe(0);
    await goTo(page, '#/list/v1/secrets');
    await page.getByRole('alert').getByText('secrets is forbidden: User "nobody" cannot list').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });
});

// They share two cores.
describe.skipIf(chromium === undefined).concurrent('an object in the console', { timeout: 300_000 }, () => {
  const bench = benchOf(() => ({ server, browser, url, token: tokens.admin, certificate }));
  signInScenarios(bench);
  editScenarios(bench);
  historyScenarios(bench);
  formScenarios(bench);
  graphScenarios(bench);
  workloadScenarios(bench);
});

describe('a server with the console', () => {
  it('sends its page with headers that forbid other origins, frames and inline code', async () => {
    const { headers, status } = await server.client.request({ method: 'GET', url: '/console/', headers: {} });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });
});

describe('a server without the console', () => {
  it('has no path for it', async () => {
    const off = await startWith(['--console=false']);
    try {
      for (const path of ['/console', '/console/', '/console/index.html', '/console/settings.json']) {
        expect([path, (await off.client.request({ method: 'GET', url: path, headers: {} })).status]).toEqual([
          path,
          404,
        ]);
      }
    } finally {
      await off.close();
    }
  });
});

async function createMany(): Promise<void> {
  await server.client.create(
    { apiVersion: 'v1', resource: 'namespaces' },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'many' } },
  );
  const create = (index: number) => {
    const name = `map-${String(index).padStart(5, '0')}`;
    return server.client.create({ ...configMaps, namespace: 'many' }, configMap(name, {}, { namespace: 'many' }));
  };
  for (let from = 0; from < 10_000; from += 200) {
    await Promise.all(Array.from({ length: 200 }, (_, index) => create(from + index)));
  }
}

/** Ten texts that would run `injected` as markup, as an attribute, as an address or as a template. */
const payloads = [
  '<script>globalThis.injected=1</script>',
  '<img src=x onerror="globalThis.injected=1">',
  '"><svg onload=globalThis.injected=1>',
  "'onmouseover='globalThis.injected=1",
  '<iframe srcdoc="<script>parent.injected=1</script>"></iframe>',
  'javascript:globalThis.injected=1',
  '</title><style>*{display:none}</style>',
  '{{constructor.constructor("globalThis.injected=1")()}}',
  '<math><mi xlink:href="data:text/html,<script>injected=1</script>">',
  '&lt;script&gt;globalThis.injected=1&lt;/script&gt;',
];

function definition(plural: string, kind: string, schema: object, columns: readonly object[] = []): ApiObject {
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ ...version, additionalPrinterColumns: columns }],
    },
  } as unknown as ApiObject;
}

/** Fifty injections: descriptions and names of columns, annotations, messages of events, field managers, and owners. */
async function injectEverywhere(): Promise<void> {
  const properties = Object.fromEntries(
    payloads.map((description, index) => [`field${index}`, { type: 'string', description, default: description }]),
  );
  const columns = payloads.map((name) => ({ name, description: name, type: 'string', jsonPath: '.spec.field0' }));
  const spec = { type: 'object', required: ['field0'], properties };
  await server.client.create(
    { apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions' },
    definition('injections', 'Injection', { type: 'object', required: ['spec'], properties: { spec } }, columns),
  );
  const place = { apiVersion: 'example.com/v1', resource: 'injections', namespace: 'default' };
  const annotations = Object.fromEntries(payloads.map((text, index) => [`text-${index}`, text]));
  const object = {
    apiVersion: 'example.com/v1',
    kind: 'Injection',
    metadata: { name: 'injected', annotations },
    spec: {},
  };
  // Ten managers: the server merges the entries of more.
  const options = { fieldManager: payloads[0] ?? '' };
  const create = () => server.client.create(place, object as ApiObject, options).catch(() => undefined);
  await expect.poll(create).toBeDefined();
  for (const [index, fieldManager] of payloads.entries()) {
    const labels = { [`manager-${index}`]: 'yes' };
    await server.client.patch({ ...place, name: 'injected' }, 'merge', { metadata: { labels } }, { fieldManager });
  }
  const { metadata } = await server.client.get({ ...place, name: 'injected' });
  for (const [index, message] of payloads.entries()) {
    await server.client.create({ apiVersion: 'v1', resource: 'events', namespace: 'default' }, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `injected-${index}` },
      involvedObject: { kind: 'Injection', namespace: 'default', name: 'injected', uid: metadata.uid },
      message,
      reason: 'Injected',
    } as ApiObject);
  }
  const ownerReferences = payloads.map((name, index) => {
    return { apiVersion: 'example.com/v1', kind: 'Injection', name, uid: `owner-${index}` };
  });
  await server.client.create(configMaps, configMap('owned', {}, { ownerReferences }));
}
