import { expect, it } from 'vitest';
import { seriousFindings } from '../support/browser.ts';
import type { ConsoleBench } from './bench.ts';
import { deployment, deployments } from './objects.ts';

export function editScenarios(bench: ConsoleBench): void {
  it('completes the fields of the schema, and marks what the schema does not allow', async () => {
    await bench.server.client.create(deployments, deployment('checked'));
    await bench.inPage('#/object/apps%2Fv1/deployments/default/checked', async (page) => {
      const { keyboard } = page;
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.locator('.cm-content[contenteditable=true] .cm-line', { hasText: 'replicas: 1' }).click();
      // The schema is there.
      await page.getByTestId('field').getByText('integer').waitFor();
      await keyboard.press('End');
      await keyboard.press('Enter');
      await keyboard.type('minRe');
      await page.locator('.cm-tooltip-autocomplete').getByText('minReadySeconds').waitFor();
      // Within 75 ms after the list has opened, Enter is taken for a part of the text.
      await page.waitForTimeout(150);
      await keyboard.press('Enter');
      await page.locator('.cm-line', { hasText: 'minReadySeconds: ' }).waitFor();
      await keyboard.type('soon');
      const marked = page.locator('.cm-lintRange');
      await marked.getByText('soon').waitFor();
      await keyboard.press('Enter');
      await keyboard.type('replica: 1');
      await marked.getByText('replica', { exact: true }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      // The server decides: it does not accept the text either.
      await page.getByRole('button', { name: 'Review' }).click();
      await page.getByRole('alert').getByText('minReadySeconds').waitFor();
    });
  });
}
