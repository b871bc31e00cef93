import { expect, it } from 'vitest';
import { namesFor } from '../../meta/index.ts';
import type { Registry } from '../../registry/index.ts';
import { systemClock } from '../clock.ts';
import { systemRandom } from '../random.ts';
import { webhookServices } from './webhook-services.ts';

it('the service of a webhook is reached by its DNS name where the server has no Services', async () => {
  const registry = { find: () => undefined } as unknown as Registry;
  const { locateService } = webhookServices({
    backend: { registry },
    names: namesFor('k8s.io'),
    clock: systemClock,
    random: systemRandom,
    fakeNodes: 0,
  });
  expect(await locateService('hooks', 'checker', 8443)).toEqual({ host: 'checker.hooks.svc', port: '8443' });
});
