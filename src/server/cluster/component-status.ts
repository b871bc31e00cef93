import https from 'node:https';
import type { ApiObject, Names } from '../../meta/index.ts';
import type { Store } from '../../store/index.ts';
import { readStore } from '../storage/store-checks.ts';

/** The result of a component's health check, or the error of the probe. */
export interface Health {
  readonly healthy: boolean;
  readonly message: string;
}

/** Probes a component by its name and its port. Never rejects. */
export type ProbeComponent = (name: string, port: number) => Promise<Health>;

/** The default secure ports of the other control plane components. */
const components = [
  ['controller-manager', 10_257],
  ['scheduler', 10_259],
] as const;

/** The control plane components as ComponentStatus objects. Never rejects: failures are in the conditions. */
export async function componentStatuses(
  store: Pick<Store, 'get' | 'commit'>,
  names: Names,
  probe: ProbeComponent,
): Promise<ApiObject[]> {
  const healths: (readonly [name: string, health: Promise<Health>])[] = [
    [`${names.storeCheck}-0`, storeHealth(store)],
    ...components.map(([name, port]) => [name, probe(name, port)] as const),
  ];
  healths.sort(([a], [b]) => (a < b ? -1 : 1));
  return Promise.all(healths.map(async ([name, health]) => statusOf(name, await health)));
}

async function storeHealth(store: Pick<Store, 'get' | 'commit'>): Promise<Health> {
  try {
    await readStore(store);
    return { healthy: true, message: 'ok' };
  } catch {
    return { healthy: false, message: 'the backing store is not available' };
  }
}

const statusOf = (name: string, { healthy, message }: Health): ApiObject => ({
  kind: 'ComponentStatus',
  apiVersion: 'v1',
  metadata: { name },
  conditions: [{ type: 'Healthy', status: healthy ? 'True' : 'False', message }],
});

/** Components of this process are healthy; all others are probed. */
export const probeOthers =
  (inProcess: ReadonlySet<string>): ProbeComponent =>
  (name, port) =>
    inProcess.has(name) ? Promise.resolve({ healthy: true, message: 'ok' }) : probeLocal(port);

const probeMs = 5_000;
const maxMessage = 10_240;

/** Probes over TLS without verification, because the components use self-signed certificates. */
export const probeLocal = (port: number): Promise<Health> => {
  const url = `https://127.0.0.1:${port}/healthz`;
  return new Promise((resolve) => {
    const failed = ({ message }: Error) => resolve({ healthy: false, message: `Get "${url}": ${message}` });
    const signal = AbortSignal.timeout(probeMs);
    // An upgrade that nobody asked for closes the connection without an error.
    const closed = () => failed(new Error('the connection was closed without a response'));
    const request = https.get(url, { rejectUnauthorized: false, agent: false, signal }, (response) => {
      request.off('close', closed);
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece.slice(0, maxMessage - text.length);
      });
      response.on('end', () => {
        const { statusCode = 0 } = response;
        const healthy = statusCode >= 200 && statusCode < 400;
        resolve({ healthy, message: healthy ? text : `HTTP probe failed with statuscode: ${statusCode}` });
      });
      response.on('error', failed);
    });
    request.on('error', failed).once('close', closed);
  });
};
