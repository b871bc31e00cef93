import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folder, listed, type Recorded, replay, scenarios } from './support/recorded.ts';
import { type RunningServer, startServer } from './support/server.ts';

/*
 * Replays the recorded exchanges with the reference server without controllers. Every exchange matches but for those that
 * reference/differences.md lists, and those differ.
 */

const recorded = scenarios.filter(({ id }) => !id.startsWith('controllers.'));
/**
 * Those of extensions define kinds of one group, whose versions discovery lists. The other one has a webhook that is asked
 * about every object that any scenario creates at cluster scope.
 */
const isAlone = ({ id }: Recorded): boolean => id.startsWith('extensions.') || id === 'webhooks.selectors';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer([
    '--api-domain=k8s.io',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--feature-gates=WatchList=true',
    '--controllers=-*',
    '--enable-bootstrap-token-auth',
  ]);
});
afterAll(() => server.stop());

const replayed = (scenario: Recorded) => replay(server, scenario);

describe.concurrent('recorded exchanges match, but for the listed differences', () => {
  it.each(recorded.filter((one) => !isAlone(one)))('$id', replayed);

  it('lists differences of recorded scenarios only', () => {
    const isRecorded = (id: string) => existsSync(join(folder, 'expected', `${id}.json`));
    expect([...listed.keys()].filter((id) => !isRecorded(id))).toEqual([]);
  });
});

describe('recorded exchanges of scenarios that run alone match, but for the listed differences', () => {
  it.each(recorded.filter(isAlone))('$id', replayed);
});
