import { expect, it } from 'vitest';
import { seriousFindings } from '../support/browser.ts';
import type { ConsoleBench } from './bench.ts';
import { deployment, deployments, ownedBy, pod, pods, replicaSet, replicaSets, service, services } from './objects.ts';

export function graphScenarios(bench: ConsoleBench): void {
  it('draws the owners and the dependents of an object with their readiness, as links and as text', async () => {
    const { client } = bench.server;
    const web = await client.create(deployments, deployment('drawn'));
    const set = await client.create(replicaSets, replicaSet('drawn-1', ownedBy(web)));
    const volumes = [{ name: 'settings', configMap: { name: 'settings' } }];
    await client.create(pods, pod('drawn-1-a', { volumes }, ownedBy(set)));
    await bench.inPage('#/object/apps%2Fv1/replicasets/default/drawn-1/graph', async (page) => {
      const drawing = page.getByRole('region', { name: 'Relations' });
      await drawing.getByRole('link', { name: 'Deployment drawn 0/1' }).waitFor();
      await drawing.getByRole('link', { name: 'Pod drawn-1-a Pending' }).waitFor();
      expect(await drawing.locator('path').count()).toBe(2);
      await page.locator('.tree').getByRole('link', { name: 'Pod drawn-1-a' }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      // With the keyboard to the pod, which names a config map.
      await drawing.getByRole('link', { name: 'Pod drawn-1-a Pending' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'drawn-1-a' }).waitFor();
      await page.getByRole('link', { name: 'Relations' }).click();
      const references = page.getByRole('table', { name: 'References' });
      await references.getByRole('link', { name: 'ConfigMap settings' }).waitFor();
      expect(await references.locator('code').allInnerTexts()).toContain('spec.volumes[0].configMap.name');
    });
  });

  it('lists the pods that a service selects', async () => {
    const { client } = bench.server;
    await client.create(services, service('selecting', { selector: { app: 'selected' }, ports: [{ port: 80 }] }));
    await client.create(pods, pod('selected', {}, { labels: { app: 'selected' } }));
    await bench.inPage('#/object/v1/services/default/selecting/graph', async (page) => {
      await page.getByRole('table', { name: 'References' }).getByRole('link', { name: 'Pod selected' }).click();
      await page.getByRole('heading', { name: 'selected', exact: true }).waitFor();
    });
  });
}
