import { expect, it } from 'vitest';
import type { ApiObject } from '../../src/server/index.ts';
import { seriousFindings } from '../support/browser.ts';
import type { ConsoleBench } from './bench.ts';
import { configMap, configMaps, secret, secrets } from './objects.ts';

export function historyScenarios(bench: ConsoleBench): void {
  it('shows what each version of an object changed, compares two, and goes back to one', async () => {
    const settings = { ...configMaps, name: 'history' };
    const apply = (fieldManager: string, data: { readonly [key: string]: string }) =>
      bench.server.client.apply(settings, configMap('history', data), { fieldManager, force: true });
    await apply('alice', { colour: 'red' });
    const { metadata } = await apply('alice', { colour: 'green' });
    await apply('bob', { colour: 'blue', size: '3' });
    await bench.inPage('#/object/v1/configmaps/default/history/history', async (page) => {
      const versions = page.getByRole('table', { name: 'History' });
      await versions.getByText('data.colour: green -> blue, +data.size: 3').waitFor();
      const rows = (await versions.locator('tbody tr').allInnerTexts()).map((row) => row.split('\t').slice(4, 6));
      expect(rows).toEqual([
        ['bob', 'Apply'],
        ['alice', 'Apply'],
        ['alice', 'Create'],
      ]);
      await page.getByLabel('Compare from version').last().check();
      const fields = page.getByRole('table', { name: 'Changed fields' }).locator('tbody tr');
      await fields.getByText('data.colour').waitFor();
      expect(await fields.allInnerTexts()).toEqual(['data.colour\tred\tblue', 'data.size\t\t3']);
      await page.getByTestId('comparison').getByText('colour: red').waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      await page.getByRole('button', { name: `Back to this version ${metadata.resourceVersion}` }).click();
      await page.locator('.cm-changedLine').getByText('green').waitFor();
      expect(await bench.server.client.get(settings)).toMatchObject({ data: { colour: 'blue' } });
      await page.getByRole('button', { name: 'Save' }).click();
      await versions.getByText('data.colour: blue -> green, -data.size').waitFor();
      const { data } = (await bench.server.client.get(settings)) as ApiObject & { data: object };
      expect(data).toEqual({ colour: 'green' });
    });
  });

  it('refuses to go back to a version over a change that was made meanwhile', async () => {
    const settings = { ...configMaps, name: 'raced' };
    await bench.server.client.create(configMaps, configMap('raced'));
    const changed = await bench.server.client.patch(settings, 'merge', { data: { a: '1' } });
    await bench.inPage('#/object/v1/configmaps/default/raced/history', async (page) => {
      await page.getByRole('button', { name: 'Back to this version' }).click();
      await page.getByRole('button', { name: 'Save', disabled: false }).waitFor();
      await bench.server.client.patch(settings, 'merge', { data: { a: '2' } });
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('alert').getByText('the object has been modified').waitFor();
      expect(await bench.server.client.get(settings)).toMatchObject({ data: { a: '2' } });
    });
    expect(changed).toMatchObject({ data: { a: '1' } });
  });

  it('shows values of secrets after a click only', async () => {
    await bench.server.client.create(secrets, secret('hidden', { password: 'one' }));
    await bench.server.client.patch({ ...secrets, name: 'hidden' }, 'merge', { stringData: { password: 'two' } });
    await bench.inPage('#/object/v1/secrets/default/hidden', async (page) => {
      await page.locator('.cm-content').getByText('password: "***"').waitFor();
      await page.getByRole('link', { name: 'History' }).click();
      await page.getByRole('table', { name: 'Changed fields' }).getByText('*** (before)').waitFor();
      expect(await page.content()).not.toContain('b25l');
      await page.getByRole('button', { name: 'Show values' }).click();
      await page.getByRole('table', { name: 'Changed fields' }).getByText('b25l').waitFor();
    });
  });

  it('names the flag that a server without the history of objects needs', async () => {
    await bench.server.client.create(configMaps, configMap('latest-only'));
    await bench.inPage('#/object/v1/configmaps/default/latest-only', async (page) => {
      // Such a server ignores the parameter.
      await page.route(/resourceVersionMatch=Exact/, (route) =>
        route.continue({ url: route.request().url().replace(/\?.*/, '') }),
      );
      await page.getByRole('link', { name: 'History' }).click();
      await page.getByText('--object-history', { exact: true }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
    });
  });
}
