import { afterAll, beforeAll, describe, it } from 'vitest';
import { allControllers } from '../src/controllers/index.ts';
import { type Recorded, replay, scenarios } from './support/recorded.ts';
import { type RunningServer, startServer } from './support/server.ts';

/*
 * Replays the recorded exchanges with the reference server beside its controllers, as replay.test.ts does those without
 * controllers.
 */

/** The controllers of a scenario, where they are not those that any server has. */
const needed: { readonly [scenario: string]: readonly string[] } = {
  autoscaler: ['horizontal-pod-autoscaler-controller'],
  claimProtection: ['persistentvolumeclaim-protection-controller', 'persistentvolume-protection-controller'],
  daemonSet: ['node-lifecycle-controller'],
  endpointsMirrored: ['endpointslice-mirroring-controller'],
  ephemeralClaims: ['ephemeral-volume-controller'],
  jobCompletes: ['job-controller'],
  jobFails: ['job-controller'],
  jobTimeToLive: ['job-controller'],
  nodeTaints: ['node-lifecycle-controller', 'taint-eviction-controller'],
  serviceEndpoints: ['endpoints-controller', 'endpointslice-controller'],
  volumesBind: ['persistentvolume-binder-controller'],
};
/** Create nodes. */
const alone = ['daemonSet', 'nodeTaints'];

const nameOf = ({ id }: Recorded): string => id.replace('controllers.', '');
const runs = (controller: string) => allControllers.some(({ name }) => name === controller);
const recorded = scenarios.filter(
  (one) => one.id.startsWith('controllers.') && (needed[nameOf(one)] ?? []).every(runs),
);
const isAlone = (one: Recorded): boolean => alone.includes(nameOf(one));

let server: RunningServer;
beforeAll(async () => {
  server = await startServer([
    '--api-domain=k8s.io',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--feature-gates=WatchList=true,DeploymentReplicaSetTerminatingReplicas=true',
    '--authorization-mode=Node,RBAC',
    '--enable-bootstrap-token-auth',
    '--controllers=*,bootstrap-signer-controller,token-cleaner-controller',
  ]);
});
afterAll(() => server.stop());

const replayed = (scenario: Recorded) => replay(server, scenario);

describe.concurrent('recorded exchanges match, but for the listed differences', () => {
  it.each(recorded.filter((one) => !isAlone(one)))('$id', { timeout: 120_000 }, replayed);
});

describe('recorded exchanges of scenarios that run alone match, but for the listed differences', () => {
  it.each(recorded.filter(isAlone))('$id', { timeout: 120_000 }, replayed);
});
