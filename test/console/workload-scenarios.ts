import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { seriousFindings } from '../support/browser.ts';
import type { ConsoleBench } from './bench.ts';
import { deployment, deployments, pod, pods } from './objects.ts';

/** The logs that clients follow at the node agent, by the name of the pod. */
const followed = new Map<string, ServerResponse>();

/** Writes two lines, and leaves the log open for a client that follows it. */
export function serveLog(url: string, response: ServerResponse): void {
  const [, pod = ''] = /^\/containerLogs\/default\/([^/]+)/.exec(url) ?? [];
  response.write(`first line of ${pod}\n<img src=x onerror="globalThis.injected=1">\n`);
  if (url.includes('follow=true')) followed.set(pod, response);
  else response.end();
}

/** A pod on the node of the agent. */
const createPod = ({ server: { client } }: ConsoleBench, name: string) =>
  client.create(pods, pod(name, { nodeName: 'agent' }));

export function workloadScenarios(bench: ConsoleBench): void {
  it('shows the log of a container, and its lines as they are written', async () => {
    await createPod(bench, 'logged');
    await bench.inPage('#/object/v1/pods/default/logged', async (page) => {
      await page.getByRole('link', { name: 'Logs' }).click();
      const log = page.getByTestId('log');
      await log.getByText('first line of logged').waitFor();
      await log.getByText('<img src=x').waitFor();
      followed.get('logged')?.write('written later\n');
      await log.getByText('written later').waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      await page.getByLabel('Follow').uncheck();
      await log.getByText('written later').waitFor({ state: 'detached' });
      await log.getByText('first line of logged').waitFor();
      await page.getByLabel('Container').selectOption('side');
      await log.getByText('first line of logged').waitFor();
      expect(await page.evaluate(() => 'injected' in globalThis)).toBe(false);
    });
  });

  it('scales a workload', async () => {
    await bench.server.client.create(deployments, deployment('scaled'));
    await bench.inPage('#/object/apps%2Fv1/deployments/default/scaled', async (page) => {
      await page.getByRole('button', { name: 'Scale' }).click();
      await page.getByLabel('Replicas').fill('5');
      expect(await seriousFindings(page)).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: 'Scale' }).click();
      await page.locator('.cm-content').getByText('replicas: 5').waitFor();
      await page.getByText('0 of 5 updated').waitFor();
    });
    expect(await bench.server.client.get({ ...deployments, name: 'scaled' })).toMatchObject({ spec: { replicas: 5 } });
  });

  it('restarts a workload, and shows how far the rollout is', async () => {
    const { client } = bench.server;
    await client.create(deployments, deployment('restarted'));
    const place = { ...deployments, name: 'restarted' };
    /** Reports what a controller would. */
    const report = async (updatedReplicas: number, availableReplicas: number) => {
      const { metadata } = await client.get(place);
      const status = {
        observedGeneration: metadata.generation ?? 0,
        replicas: 1,
        readyReplicas: availableReplicas,
        updatedReplicas,
        availableReplicas,
      };
      await client.patch({ ...place, subresource: 'status' }, 'merge', { status });
    };
    await report(1, 1);
    await bench.inPage('#/object/apps%2Fv1/deployments/default/restarted', async (page) => {
      const rollout = (done: boolean) => page.locator(`[data-testid=rollout][data-done=${done}]`).waitFor();
      await rollout(true);
      await page.getByRole('button', { name: 'Restart' }).click();
      await rollout(false);
      await page.locator('.cm-content').getByText('kubernetes.io/restartedAt').waitFor();
      await report(1, 0);
      await page.getByText('1 of 1 updated').waitFor();
      await page.getByText('0 of 1 available').waitFor();
      await report(1, 1);
      await page.getByText('The rollout is complete.').waitFor();
      expect(await seriousFindings(page)).toEqual([]);
    });
  });

  it('shows the views of an object in German, on a phone', async () => {
    await createPod(bench, 'small');
    await bench.inPage('#/object/v1/pods/default/small', async (page) => {
      await page.getByLabel('Language').selectOption('de');
      await page.setViewportSize({ width: 390, height: 800 });
      const tabs: readonly [tab: string, text: string][] = [
        ['Formular', 'spec'],
        ['Verlauf', 'Zurück zu dieser Fassung'],
        ['Beziehungen', 'Verweise'],
        ['Protokolle', 'first line of small'],
      ];
      for (const [tab, text] of tabs) {
        await page.getByRole('link', { name: tab }).click();
        await page.getByRole('main').getByText(text).first().waitFor();
        expect([tab, await seriousFindings(page)]).toEqual([tab, []]);
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect([tab, Number(overflow) <= 0]).toEqual([tab, true]);
      }
    });
  });
}
