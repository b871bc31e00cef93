import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Ask, type Client, shown } from '../client.ts';
import type { ServerOptions, TestedServer } from '../server.ts';

/** An attack against a server. */
export interface Scenario {
  readonly name: string;
  /** The promise that holds during and after the attack. */
  readonly title: string;
  readonly options?: ServerOptions;
  /** Its short version leaves nothing behind that other scenarios meet: they may attack the same server. */
  readonly sharesServer?: true;
  /** Its number makes it an attack: there is no short version. */
  readonly fullOnly?: boolean;
  /** How much memory what the attack leaves may take, where that is meant to stay (bytes). */
  readonly mostLeft?: { readonly full: number; readonly short: number };
  /** Throws when the title does not hold. */
  readonly attack: (attack: Attack) => Promise<void>;
}

export interface Attack {
  readonly server: TestedServer;
  readonly client: Client;
  /** Full intensity, with time limits; otherwise a short version without. */
  readonly full: boolean;
  /** The longest blocking of the server's event loop since the last call (ms). */
  readonly longestTurn: () => Promise<number>;
}

/** Throws with this message unless the condition holds. */
export function hold(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}

/** The largest error response (bytes). */
const maxErrorBytes = 1024 * 1024;

/** Checks that a request is rejected with 4xx and a short body. */
export function refused(what: string, { status, body }: Answer): void {
  hold(status >= 400 && status < 500, `${what} is answered with ${status}: ${shown(body)}`);
  hold(body.length <= maxErrorBytes, `${what} is refused with ${body.length} bytes`);
}

/** Checks that a response is 2xx to 4xx, with a short body and short headers. */
export function answered(what: string, { status, body, headers }: Answer): void {
  hold(status >= 200 && status < 500, `${what} is answered with ${status}: ${shown(body)}`);
  hold(body.length <= maxErrorBytes, `${what} is answered with ${body.length} bytes`);
  const size = JSON.stringify(headers).length;
  hold(size <= 16 * 1024, `${what} is answered with headers of ${size} bytes`);
}

export function succeeded(what: string, { status, body }: Answer): void {
  hold(status >= 200 && status < 300, `${what} is answered with ${status}: ${shown(body)}`);
}

export const configMaps = '/api/v1/namespaces/default/configmaps';
export const selfReviews = '/apis/authentication.orch.io/v1/selfsubjectreviews';
export const selfAccessReviews = '/apis/authorization.orch.io/v1/selfsubjectaccessreviews';

const jsonType = { 'content-type': 'application/json' };

/** A request with a body by bob, an unprivileged user. */
export const asBob = (path: string, body: string, type = 'application/json'): Ask => ({
  user: 'bob',
  method: 'POST',
  path,
  headers: { 'content-type': type },
  body,
});

export const asAdmin = (method: string, path: string, body?: unknown, type?: string): Ask => ({
  user: 'admin',
  method,
  path,
  headers: type === undefined ? jsonType : { 'content-type': type },
  ...(body === undefined
    ? {}
    : { body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body) }),
});

export const pods = '/api/v1/namespaces/default/pods';

/** A pod on a node whose kubelet listens on this host. */
export async function makePod(client: Client, port: number, podIp: string): Promise<void> {
  const make = async (path: string, object: object) =>
    succeeded(path, await client.http1(asAdmin('POST', path, object)));
  await make('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
  const daemonEndpoints = { kubeletEndpoint: { Port: port } };
  await make('/api/v1/nodes', { metadata: { name: 'here' }, status: { addresses, daemonEndpoints } });
  const containers = [{ name: 'main', image: 'i' }];
  await make(pods, { metadata: { name: 'web' }, spec: { nodeName: 'here', containers } });
  const status = { podIP: podIp, podIPs: [{ ip: podIp }], phase: 'Running' };
  const patch = asAdmin('PATCH', `${pods}/web/status`, { status }, 'application/strategic-merge-patch+json');
  succeeded('the status of the pod', await client.http1(patch));
}

/** Makes config maps, a few at a time. A busy server may refuse one for now. */
export async function makeConfigMaps(client: Client, count: number, object: (i: number) => object): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < count) {
      const ask = asAdmin('POST', configMaps, object(next++));
      let made = await client.http2(ask);
      while (made.status === 429) made = await client.http2(ask);
      succeeded('an object', made);
    }
  };
  await Promise.all(Array.from({ length: 20 }, work));
}

const rbac = '/apis/rbac.authorization.orch.io/v1/namespaces/default';

/** Lets bob get, list and watch config maps. */
export async function letBobRead(client: Client): Promise<void> {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }];
  const role = { metadata: { name: 'r' }, rules };
  succeeded('creating a role', await client.http1(asAdmin('POST', `${rbac}/roles`, role)));
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'r' };
  const subjects = [{ apiGroup: 'rbac.authorization.orch.io', kind: 'User', name: 'bob' }];
  const binding = { metadata: { name: 'b' }, roleRef, subjects };
  succeeded('binding it', await client.http1(asAdmin('POST', `${rbac}/rolebindings`, binding)));
}

/** Checks that an object can be read in every media type, is in its list, and can be deleted. */
export async function usable(client: Client, collection: string, name: string): Promise<void> {
  const path = `${collection}/${name}`;
  for (const accept of ['application/json', 'application/yaml', 'application/json;as=Table;v=v1;g=meta.orch.io']) {
    for (const where of [path, collection]) {
      const got = await client.http1({ user: 'admin', method: 'GET', path: where, headers: { accept } });
      succeeded(`reading ${where} as ${accept}`, got);
    }
  }
  succeeded(`deleting ${path}`, await client.http1(asAdmin('DELETE', `${path}?gracePeriodSeconds=0`)));
  // A definition goes when its objects have gone.
  let status = 0;
  for (let attempt = 0; attempt < 100 && status !== 404; attempt++) {
    if (attempt > 0) await sleep(20);
    ({ status } = await client.http1(asAdmin('GET', path)));
  }
  hold(status === 404, `${path} is still there after it was deleted`);
}

/** The metrics of requests in progress that are not zero. */
const inProgress =
  /^apiserver_(?:current_inflight_requests|longrunning_requests|flowcontrol_current_(?:executing|inqueue)_\w+)\{.*\} [1-9]\d*$/gm;

/** Requests that still count as in flight a few seconds after the attack. */
export async function heldPlaces(client: Client): Promise<string[]> {
  for (let i = 0; ; i++) {
    const { body } = await client.http1(asAdmin('GET', '/metrics'));
    const gauges = body.toString().match(inProgress) ?? [];
    // The scrape itself is in flight, and has a seat.
    const held = gauges.filter((line) => !/(?:readOnly|="exempt").* 1$/.test(line));
    if (held.length === 0 || i === 20) return held.map((line) => `still under way: ${line}`);
    await sleep(500);
  }
}
