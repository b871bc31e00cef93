import { expect, it } from 'vitest';
import { seriousFindings } from '../support/browser.ts';
import type { ConsoleBench } from './bench.ts';
import { deployment, deployments } from './objects.ts';

export function formScenarios(bench: ConsoleBench): void {
  it('edits the fields of an object in a form, through the same review as its YAML', async () => {
    await bench.server.client.apply({ ...deployments, name: 'form' }, deployment('form'), { fieldManager: 'author' });
    await bench.inPage('#/object/apps%2Fv1/deployments/default/form/form', async (page) => {
      const field = (path: string) => page.locator(`[id="field-${path}"]`);
      const open = (name: string) => page.locator('details:not([open]) > summary', { hasText: name }).first().click();
      await field('spec.replicas').waitFor();
      expect(await field('spec.replicas').isDisabled()).toBe(true);
      await page.getByRole('button', { name: 'Edit' }).click();
      await field('spec.replicas').fill('many');
      await page.getByRole('alert').getByText('This is not a number that the field can have.').waitFor();
      await field('spec.replicas').fill('3');
      await page.getByTestId('field').getByText('spec.replicas').waitFor();
      await page.getByLabel('Add a field to spec', { exact: true }).first().selectOption('paused');
      await page.getByRole('button', { name: 'Add a field to spec', exact: true }).click();
      await field('spec.paused').check();
      for (const name of ['template', 'metadata', 'labels']) await open(name);
      await page.getByLabel('Key of a new field in spec.template.metadata.labels').fill('tier');
      await page.getByRole('button', { name: 'Add a field to spec.template.metadata.labels' }).click();
      await field('spec.template.metadata.labels.tier').fill('front');
      for (const name of ['spec', 'containers', 'web', 'args']) await open(name);
      await field('spec.template.spec.containers[0].imagePullPolicy').selectOption('Never');
      await page.getByRole('button', { name: 'Add an item to spec.template.spec.containers[0].args' }).click();
      await field('spec.template.spec.containers[0].args[1]').fill('--fast');
      await page.getByRole('button', { name: 'Remove spec.template.spec.containers[0].args[0]' }).click();
      expect(await seriousFindings(page)).toEqual([]);
      // The draft is the same in the YAML.
      await page.getByRole('link', { name: 'YAML' }).click();
      await page.locator('.cm-content').getByText('tier: front').waitFor();
      await page.getByRole('link', { name: 'Form' }).click();
      await page.getByRole('button', { name: 'Review' }).click();
      await page.getByTestId('conflicts').getByText('.spec.replicas').waitFor();
      await page.getByRole('button', { name: 'Take over these fields' }).click();
      await page.getByRole('button', { name: 'Save', disabled: false }).click();
      await page.getByRole('button', { name: 'Edit' }).waitFor();
      expect(await bench.server.client.get({ ...deployments, name: 'form' })).toMatchObject({
        spec: {
          replicas: 3,
          paused: true,
          template: {
            metadata: { labels: { app: 'form', tier: 'front' } },
            spec: { containers: [{ name: 'web', imagePullPolicy: 'Never', args: ['--fast'] }] },
          },
        },
      });
    });
  });
}
