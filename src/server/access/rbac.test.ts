import { afterAll, describe, expect, it } from 'vitest';
import { createClient, inProcessTransport } from '../../client/index.ts';
import type { JsonObject } from '../../meta/index.ts';
import { openMemoryStore } from '../../store/index.ts';
import { systemClock } from '../clock.ts';
import { silentLog } from '../dependencies.ts';
import { createServer, type OrchServer } from '../server.ts';

const apiDomain = 'k8s.io';
const server = await createServer({ apiDomain });
afterAll(() => server.close());

const group = 'rbac.authorization.k8s.io';
const rbac = `/apis/${group}/v1`;
const inDefault = `${rbac}/namespaces/default`;
const configMaps = '/api/v1/namespaces/default/configmaps';

interface Answer {
  readonly status: number;
  readonly message: string;
  readonly body: JsonObject;
}

/** Sends a request as a user by impersonation; without a user as a member of system:masters. */
async function send(
  user: string,
  method: string,
  url: string,
  body?: object,
  headers: { readonly [name: string]: string } = {},
  to: OrchServer = server,
): Promise<Answer> {
  const response = await to.client.request({
    method,
    url,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(user === '' ? {} : { 'impersonate-user': user }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  const text = Buffer.concat(chunks).toString();
  const parsed = text.startsWith('{') ? (JSON.parse(text) as JsonObject) : {};
  const { message = '' } = parsed;
  return { status: response.status, message: message as string, body: parsed };
}

const rule = (verbs: string[], resources: string[], more: object = {}) => ({
  apiGroups: [''],
  resources,
  verbs,
  ...more,
});
const role = (name: string, ...rules: object[]) => ({ metadata: { name }, rules });
const bindingOf = (name: string, user: string, kind: string, roleName: string) => ({
  metadata: { name },
  subjects: [{ kind: 'User', name: user }],
  roleRef: { apiGroup: group, kind, name: roleName },
});

/** Grants a user rules in the namespace `default` by a role and a binding of the user's name. */
async function grant(user: string, ...rules: object[]): Promise<void> {
  expect((await send('', 'POST', `${inDefault}/roles`, role(user, ...rules))).status).toBe(201);
  expect((await send('', 'POST', `${inDefault}/rolebindings`, bindingOf(user, user, 'Role', user))).status).toBe(201);
}

describe('authorization by roles', () => {
  it('holds from the request after the write on', async () => {
    const read = async (user = 'jane') => (await send(user, 'GET', configMaps)).status;
    expect(await read()).toBe(403);
    await send('', 'POST', `${inDefault}/rolebindings`, bindingOf('b', 'jane', 'Role', 'reader'));
    expect((await send('jane', 'GET', configMaps)).message).toBe(
      'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default": ' +
        'RBAC: role.rbac.authorization.k8s.io "reader" not found',
    );
    await send('', 'POST', `${inDefault}/roles`, role('reader', rule(['list'], ['configmaps'])));
    expect(await read()).toBe(200);
    expect(await read('joe')).toBe(403);
    await send('', 'PUT', `${inDefault}/roles/reader`, role('reader', rule(['get'], ['configmaps'])));
    expect(await read()).toBe(403);
    await send('', 'PUT', `${inDefault}/roles/reader`, role('reader', rule(['*'], ['configmaps'])));
    expect(await read()).toBe(200);
    await send('', 'DELETE', `${inDefault}/roles/reader`);
    expect(await read()).toBe(403);
    await send('', 'POST', `${inDefault}/roles`, role('reader', rule(['list'], ['configmaps'])));
    expect(await read()).toBe(200);
    await send('', 'DELETE', `${inDefault}/rolebindings/b`);
    const refused = await send('jane', 'GET', configMaps);
    expect(refused.message).toBe(
      'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"',
    );
  });

  it('takes the name of a list or watch from the field selector, and a create has none', async () => {
    await grant('named', rule(['list', 'create', 'deletecollection'], ['configmaps'], { resourceNames: ['x'] }));
    const list = (selector: string) => send('named', 'GET', `${configMaps}?fieldSelector=${selector}`);
    expect((await list('metadata.name%3Dx')).status).toBe(200);
    expect((await list('metadata.name%3Dy')).status).toBe(403);
    expect((await list('metadata.name!%3Dx')).status).toBe(403);
    expect((await send('named', 'GET', configMaps)).status).toBe(403);
    expect((await send('named', 'POST', configMaps, { metadata: { name: 'x' } })).status).toBe(403);
    expect((await send('named', 'DELETE', configMaps)).status).toBe(403);
  });

  it('lists the rules of the requester', async () => {
    await grant('lister', rule(['get'], ['secrets'], { resourceNames: ['s'] }));
    const reviews = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
    const { body } = await send('lister', 'POST', reviews, { spec: { namespace: 'default' } });
    expect(body['status']).toMatchObject({
      incomplete: false,
      resourceRules: expect.arrayContaining([rule(['get'], ['secrets'], { resourceNames: ['s'] })]),
    });
  });

  it('sends no warning with a write of a role', async () => {
    const body = Buffer.from(JSON.stringify(role('quiet')));
    const headers = { 'content-type': 'application/json' };
    const response = await server.client.request({ method: 'POST', url: `${inDefault}/roles`, headers, body });
    expect([response.status, response.headers['warning']]).toEqual([201, undefined]);
  });
});

describe('a second server over the same store', () => {
  it('authorizes by the roles of the first, also of those that were there before it', async () => {
    const store = openMemoryStore({ clock: systemClock });
    const first = await createServer({ apiDomain }, { store });
    const cluster = (to: OrchServer, resource: string, body: object) =>
      send('', 'POST', `${rbac}/${resource}`, body, {}, to);
    await cluster(first, 'clusterroles', role('reader', rule(['list'], ['configmaps'])));
    for (let i = 0; i < 600; i++) {
      await cluster(first, 'clusterrolebindings', bindingOf(`b${i}`, `user${i}`, 'ClusterRole', 'reader'));
    }
    const second = await createServer({ apiDomain }, { store: sharedStore(store) });
    const read = async (user: string) => (await send(user, 'GET', configMaps, undefined, {}, second)).status;
    expect([await read('user0'), await read('user599'), await read('user600')]).toEqual([200, 200, 403]);
    await cluster(first, 'clusterrolebindings', bindingOf('b600', 'user600', 'ClusterRole', 'reader'));
    await expect.poll(() => read('user600')).toBe(200);
    await send('', 'DELETE', `${rbac}/clusterrolebindings/b0`, undefined, {}, first);
    await expect.poll(() => read('user0')).toBe(403);
    await second.close();
    await first.close();
  });
});

/** The store for a second server, which must not close it. */
const sharedStore = (store: ReturnType<typeof openMemoryStore>) =>
  new Proxy(store, {
    get: (target, name) => {
      if (name === 'close') return async () => {};
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });

const attempt = 'is attempting to grant RBAC permissions not currently held';
const groupsShown = '(groups=["system:authenticated"])';

describe('privilege escalation prevention', () => {
  const manage = (verbs: string[]) => ({ apiGroups: [group], resources: ['roles', 'rolebindings'], verbs });
  const write = ['create', 'update', 'patch'];
  const apply = { 'content-type': 'application/apply-patch+yaml' };
  const merge = { 'content-type': 'application/merge-patch+json' };
  const more = rule(['get', 'delete'], ['secrets']);
  const refusal = (user: string, name: string) =>
    `roles.${group} "${name}" is forbidden: user "${user}" ${groupsShown} ${attempt}:\n` +
    '{APIGroups:[""], Resources:["secrets"], Verbs:["delete"]}';

  it('refuses a role that grants what its writer does not hold, by every way of writing', async () => {
    await grant('eve', manage(write), rule(['get'], ['secrets', 'configmaps']));
    const held = role('e', rule(['get'], ['configmaps']));
    expect((await send('eve', 'POST', `${inDefault}/roles`, held)).status).toBe(201);
    const asked: Answer[] = [
      await send('eve', 'POST', `${inDefault}/roles`, role('f', more)),
      await send('eve', 'POST', `${inDefault}/roles?dryRun=All`, role('f', more)),
      await send('eve', 'PUT', `${inDefault}/roles/e`, role('e', more)),
      await send('eve', 'PUT', `${inDefault}/roles/f`, role('f', more)),
      await send('eve', 'PATCH', `${inDefault}/roles/e`, { rules: [more] }, merge),
      await send(
        'eve',
        'PATCH',
        `${inDefault}/roles/f?fieldManager=m`,
        { apiVersion: `${group}/v1`, kind: 'Role', ...role('f', more) },
        apply,
      ),
    ];
    expect(asked.map(({ status, message }) => `${status} ${message}`)).toEqual(
      ['f', 'f', 'e', 'f', 'e', 'f'].map((name) => `403 ${refusal('eve', name)}`),
    );
    const generated = { metadata: { generateName: 'g-' }, rules: [more] };
    expect((await send('eve', 'POST', `${inDefault}/roles`, generated)).message).toBe(
      refusal('eve', 'x').replace(' "x"', ''),
    );
    expect((await send('', 'GET', `${inDefault}/roles/f`)).status).toBe(404);
  });

  it('lets who may escalate grant anything, and who may bind bind the role', async () => {
    await grant('up', manage([...write, 'escalate']));
    expect((await send('up', 'POST', `${inDefault}/roles`, role('up-made', more))).status).toBe(201);
    const binding = bindingOf('up-binds', 'up', 'Role', 'up-made');
    expect((await send('up', 'POST', `${inDefault}/rolebindings`, binding)).message).toBe(
      `rolebindings.${group} "up-binds" is forbidden: user "up" ${groupsShown} ${attempt}:\n` +
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}',
    );
    const bind = { ...manage(['bind']), resources: ['roles'], resourceNames: ['up-made'] };
    await grant('binder', manage(write), bind);
    expect((await send('binder', 'POST', `${inDefault}/rolebindings`, binding)).status).toBe(201);
    const other = bindingOf('other', 'up', 'Role', 'up');
    expect((await send('binder', 'POST', `${inDefault}/rolebindings`, other)).status).toBe(403);
  });

  it('answers 404 for a binding to a role that does not exist, and 422 for one that cannot exist', async () => {
    await grant('bound', manage(write));
    const post = (kind: string, name: string) =>
      send('bound', 'POST', `${inDefault}/rolebindings`, bindingOf('n', 'bound', kind, name));
    expect(await post('ClusterRole', 'none')).toMatchObject({
      status: 404,
      message: `clusterroles.${group} "none" not found`,
    });
    expect((await post('Thing', 'none')).status).toBe(422);
    expect((await post('Role', '')).status).toBe(422);
  });

  it('allows updates of owner references and finalizers alone, and no others, of a role beyond the writer', async () => {
    await grant('gc', manage(write));
    await send('', 'POST', `${inDefault}/roles`, role('strong', more));
    await send('', 'POST', `${inDefault}/rolebindings`, bindingOf('strong', 'jane', 'Role', 'strong'));
    for (const resource of ['roles', 'rolebindings']) {
      const patch = async (body: object) =>
        (await send('gc', 'PATCH', `${inDefault}/${resource}/strong`, body, merge)).status;
      expect(await patch({ metadata: { finalizers: ['example.org/x'] } })).toBe(200);
      expect(await patch({ metadata: { finalizers: [], ownerReferences: [] } })).toBe(200);
      expect(await patch({ metadata: { labels: { a: 'b' } } })).toBe(403);
    }
    expect((await send('gc', 'PATCH', `${inDefault}/rolebindings/strong`, { subjects: [] }, merge)).status).toBe(403);
  });

  it('lets nobody use an aggregation rule who does not hold everything', async () => {
    const all = [
      { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'create', 'update'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ];
    await send('', 'POST', `${rbac}/clusterroles`, role('most', ...all));
    await send('', 'POST', `${rbac}/clusterrolebindings`, bindingOf('most', 'boss', 'ClusterRole', 'most'));
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] };
    const post = (body: object) => send('boss', 'POST', `${rbac}/clusterroles`, body);
    const why = 'must have cluster-admin privileges to use the aggregationRule';
    expect((await post({ ...role('sum'), aggregationRule })).message).toBe(
      `clusterroles.${group} "sum" is forbidden: ${why}`,
    );
    expect((await post(role('paths', { nonResourceURLs: ['/metrics'], verbs: ['get'] }))).status).toBe(201);
    await send('', 'POST', `${rbac}/clusterroles`, { ...role('sum'), aggregationRule });
    expect((await send('boss', 'PUT', `${rbac}/clusterroles/sum`, role('sum'))).message).toContain(why);
    const complete = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'], resourceNames: [] }, all[1] ?? {}];
    await send('', 'PUT', `${rbac}/clusterroles/most`, role('most', ...complete));
    expect((await send('boss', 'PUT', `${rbac}/clusterroles/sum`, role('sum'))).status).toBe(200);
  });
});

describe('--authorization-mode', () => {
  const statusOf = async (authorizationMode: string, user: string) => {
    const made = await createServer({ apiDomain, authorizationMode });
    const answer = await send(user, 'GET', configMaps, undefined, {}, made);
    await made.close();
    return `${answer.status} ${answer.message}`;
  };
  const denied =
    'configmaps is forbidden: User "u" cannot list resource "configmaps" in API group "" in the namespace "default"';

  it('asks the authorizers in order until one allows', async () => {
    expect(await statusOf('AlwaysAllow', 'u')).toBe('200 ');
    expect(await statusOf('AlwaysDeny', 'u')).toBe(`403 ${denied}: Everything is forbidden.`);
    expect(await statusOf('AlwaysDeny', '')).toBe('200 ');
    expect(await statusOf('AlwaysDeny,AlwaysAllow', 'u')).toBe('200 ');
    expect(await statusOf('Node,RBAC', 'u')).toBe(`403 ${denied}`);
  });

  it.each(['AlwaysAllow', 'RBAC,AlwaysAllow'])(
    '%s refuses requests without credentials, with a warning',
    async (mode) => {
      const warnings: string[] = [];
      const log = { ...silentLog, warn: (text: string) => warnings.push(text) };
      const made = await createServer({ apiDomain, authorizationMode: mode, anonymousAuth: true }, { log });
      const plain = createClient({ transport: inProcessTransport(made.handler) });
      for (const url of ['/livez', configMaps]) {
        const sent = plain.request({ method: 'GET', url, headers: {} });
        expect((await sent).status).toBe(401);
      }
      await made.close();
      expect(warnings).toEqual([
        expect.stringContaining('the authorization mode AlwaysAllow turns --anonymous-auth off'),
      ]);
    },
  );

  it('is RBAC when it is empty', async () => {
    expect(await statusOf('', 'u')).toBe(`403 ${denied}`);
  });

  it.each([
    [
      'RBAC,Magic',
      'authorization-mode "Magic" is not a valid mode: --authorization-mode takes AlwaysAllow, AlwaysDeny, ABAC',
    ],
    ['Node, RBAC', 'authorization-mode " RBAC" is not a valid mode'],
    ['rbac', 'authorization-mode "rbac" is not a valid mode'],
    ['RBAC,Node,RBAC', 'authorization-mode ["RBAC" "Node" "RBAC"] has mode specified more than once'],
    ['Webhook', "authorization-mode Webhook's authorization config file not passed"],
    ['ABAC', "authorization-mode ABAC's authorization policy file not passed"],
  ])('refuses %j', async (authorizationMode, problem) => {
    await expect(createServer({ authorizationMode })).rejects.toThrow(problem);
  });
});
