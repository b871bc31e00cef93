import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Recorded, replay, scenarios } from './support/recorded.ts';
import { type RunningServer, startServer } from './support/server.ts';

/*
 * Replays the recorded exchanges with the reference server and its controllers, as replay.test.ts does those without
 * controllers.
 */

/** Create nodes. */
const alone = ['controllers.daemonSet', 'controllers.nodeTaints'];

const recorded = scenarios.filter(({ id }) => id.startsWith('controllers.'));
const isAlone = (one: Recorded): boolean => alone.includes(one.id);

let server: RunningServer;
beforeAll(async () => {
  server = await startServer([
    '--api-domain=k8s.io',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--feature-gates=WatchList=true,DeploymentReplicaSetTerminatingReplicas=true',
    '--authorization-mode=Node,RBAC',
    '--enable-bootstrap-token-auth',
    '--controllers=*,bootstrap-signer-controller,token-cleaner-controller',
    // Scenarios run side by side, and would share one budget of requests.
    '--kube-api-qps=0',
  ]);
});
afterAll(() => server.stop());

const replayed = (scenario: Recorded) => replay(server, scenario);

describe.concurrent('recorded exchanges match, but for the listed differences', () => {
  it.each(recorded.filter((one) => !isAlone(one)))('$id', replayed);
});

describe('recorded exchanges of scenarios that run alone match, but for the listed differences', () => {
  it.each(recorded.filter(isAlone))('$id', replayed);
});
