import { expect, it } from 'vitest';
import type { ApiObject } from '../../src/server/index.ts';
import { seriousFindings } from '../support/browser.ts';
import type { ConsoleBench } from './bench.ts';
import { deployment } from './form-scenarios.ts';

const apps = { apiVersion: 'apps/v1', namespace: 'default' };

export function graphScenarios(bench: ConsoleBench): void {
  it('draws the owners and the dependents of an object with their readiness, as links and as text', async () => {
    const { client } = bench.server;
    const owned = (owner: ApiObject, kind: string, name: string) => ({
      name,
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind,
          name: owner.metadata.name ?? '',
          uid: owner.metadata.uid ?? '',
          controller: true,
        },
      ],
    });
    const { spec } = deployment('drawn') as ApiObject & { readonly spec: object };
    const web = await client.create({ ...apps, resource: 'deployments' }, deployment('drawn'));
    const set = await client.create({ ...apps, resource: 'replicasets' }, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: owned(web, 'Deployment', 'drawn-1'),
      spec,
    } as unknown as ApiObject);
    const volumes = [{ name: 'settings', configMap: { name: 'settings' } }];
    await client.create({ apiVersion: 'v1', resource: 'pods', namespace: 'default' }, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: owned(set, 'ReplicaSet', 'drawn-1-a'),
      spec: { containers: [{ name: 'web', image: 'web:1' }], volumes },
    } as unknown as ApiObject);
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
    const core = { apiVersion: 'v1', namespace: 'default' };
    await client.create({ ...core, resource: 'services' }, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'selecting' },
      spec: { selector: { app: 'selected' }, ports: [{ port: 80 }] },
    } as unknown as ApiObject);
    await client.create({ ...core, resource: 'pods' }, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'selected', labels: { app: 'selected' } },
      spec: { containers: [{ name: 'web', image: 'web:1' }] },
    } as unknown as ApiObject);
    await bench.inPage('#/object/v1/services/default/selecting/graph', async (page) => {
      await page.getByRole('table', { name: 'References' }).getByRole('link', { name: 'Pod selected' }).click();
      await page.getByRole('heading', { name: 'selected', exact: true }).waitFor();
    });
  });
}
