import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';

/** A browser for all pages of a test file. */
export const startBrowser = (executablePath: string): Promise<Browser> =>
  // A container has no user namespaces for the sandbox; the pages are the project's own.
  chromium.launch({ executablePath, args: ['--no-sandbox'] });

/** Acts of a page that are forbidden. */
export interface Offences {
  /** Requests to other origins. */
  readonly requests: string[];
  /** Violations of the content security policy. */
  readonly violations: string[];
  /** Errors that nothing has caught. */
  readonly errors: string[];
}

const offences = new WeakMap<Page, Offences>();

export interface ConsoleOptions {
  /** The fragment of the address, such as `#/list/v1/pods`. */
  readonly address?: string;
  /** The client certificate that the browser presents, in PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** The origins of an identity provider, to which the page may send requests. */
  readonly issuer?: readonly string[];
}

/** Opens the console of a server in a context of its own, signed out. */
export async function openConsole(
  browser: Browser,
  url: string,
  { address = '', certificate, issuer = [] }: ConsoleOptions = {},
): Promise<Page> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    locale: 'en',
    viewport: { width: 1280, height: 800 },
    ...(certificate === undefined ? {} : { clientCertificates: [clientCertificate(url, certificate)] }),
  });
  const page = await context.newPage();
  // The tests end those that hang.
  page.setDefaultTimeout(60_000);
  const found: Offences = { requests: [], violations: [], errors: [] };
  offences.set(page, found);
  page.on('request', (request) => {
    if (![url, ...issuer].some((origin) => request.url().startsWith(`${origin}/`))) found.requests.push(request.url());
  });
  page.on('pageerror', (error) => found.errors.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) found.violations.push(message.text());
  });
  await page.goto(`${url}/console/${address}`);
  return page;
}

const clientCertificate = (origin: string, { cert, key }: { readonly cert: string; readonly key: string }) => ({
  origin,
  cert: Buffer.from(cert),
  key: Buffer.from(key),
});

export const offencesOf = (page: Page): Offences => offences.get(page) ?? { requests: [], violations: [], errors: [] };

export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Bearer token').fill(token);
  await page.getByRole('button', { name: 'Sign in with the token' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

// Scripts for a page are text: the types of browsers are not those of the tests.

/** Moves to an address of the console, such as `#/list/v1/pods`. */
export const goTo = (page: Page, address: string): Promise<unknown> =>
  page.evaluate(`location.hash = ${JSON.stringify(address)}`);

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The serious findings of axe in a page. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // The policy of the page forbids scripts in elements, not those of the browser's own protocol.
  await page.evaluate(axe);
  return page.evaluate<string[]>(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`);
}

/** Elements that the console itself never has, in the document and in the shadow roots in it. */
export const foreignElements = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const foreign = 'iframe, object, embed, svg:not(.edges), math, img, body style, body script, [onerror], [onload], [onmouseover],'
      + 'a[href^="javascript" i]';
    const roots = [document];
    for (const root of roots) {
      for (const element of root.querySelectorAll('*')) if (element.shadowRoot !== null) roots.push(element.shadowRoot);
    }
    return roots.flatMap((root) => [...root.querySelectorAll(foreign)].map(({ outerHTML }) => outerHTML));
  })()`);
