import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { ConsoleBench } from './bench.ts';
import { configMap, configMaps } from './objects.ts';

export function signInScenarios(bench: ConsoleBench): void {
  it('signs in with the certificate that the browser presents', async () => {
    await bench.inSignedOutPage({ presentsCertificate: true }, async (page) => {
      await page.getByRole('button', { name: 'Use the certificate of the browser' }).click();
      await page.getByRole('banner').getByText('jane').waitFor();
    });
  });

  it('says when the browser presents no certificate', async () => {
    await bench.inSignedOutPage({ presentsCertificate: false }, async (page) => {
      await page.getByRole('button', { name: 'Use the certificate of the browser' }).click();
      await page.getByRole('alert').getByText('recognises no client certificate').waitFor();
    });
  });

  it('can be used with the keyboard alone, from the sign-in to a saved change', async () => {
    await bench.server.client.create(configMaps, configMap('typed', { first: 'yes' }));
    await bench.inSignedOutPage({ presentsCertificate: false }, async (page) => {
      const { keyboard } = page;
      await page.getByLabel('Bearer token').waitFor();
      await tabTo(page, 'Bearer token');
      await keyboard.type(bench.token);
      await keyboard.press('Enter');
      await page.getByRole('link', { name: 'ConfigMap', exact: true }).waitFor();
      await tabTo(page, 'Filter kinds');
      await keyboard.type('configmap');
      await page.getByRole('link', { name: 'Secret', exact: true }).waitFor({ state: 'detached' });
      await tabTo(page, 'ConfigMap');
      await keyboard.press('Enter');
      await page.getByRole('heading', { name: 'ConfigMap' }).waitFor();
      await keyboard.press('/');
      await keyboard.type('default/typed');
      await page.getByText(/^Objects: 1 of/).waitFor();
      await tabTo(page, 'ConfigMap');
      await keyboard.press('ArrowDown');
      await keyboard.press('Enter');
      await page.getByRole('button', { name: 'Edit' }).waitFor();
      await tabTo(page, 'Edit');
      await keyboard.press('Enter');
      await page.locator('.cm-content[contenteditable=true]').waitFor();
      await tabTo(page, 'YAML of typed');
      await keyboard.press('Control+End');
      await keyboard.type('  second: "yes"');
      // Tab indents a line of the editor; from now on it leaves the editor. Escape allows that for two seconds only.
      await keyboard.press('Control+m');
      await tabTo(page, 'Review', 'Shift+Tab');
      await keyboard.press('Enter');
      await page.getByRole('button', { name: 'Save', disabled: false }).waitFor();
      await tabTo(page, 'Save');
      await keyboard.press('Enter');
      await page.getByRole('button', { name: 'Edit' }).waitFor();
    });
    expect(await bench.server.client.get({ ...configMaps, name: 'typed' })).toMatchObject({ data: { second: 'yes' } });
  });
}

/** Presses Tab until the focus is on what screen readers call `name`. */
async function tabTo(page: Page, name: string, key = 'Tab'): Promise<void> {
  const focused = `(() => {
    let element = document.activeElement;
    while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent;
  })()`;
  for (let presses = 0; presses < 50; presses++) {
    await page.keyboard.press(key);
    if ((await page.evaluate(focused)) === name) return;
  }
  throw new Error(`Tab does not reach ${name}`);
}
